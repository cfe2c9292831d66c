// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/recorded_costs.h"

#include <algorithm>
#include <unordered_map>

#include "analyzer/measure/core_waits.h"
#include "analyzer/measure/starts.h"

namespace penstock::analyzer {
namespace {

// The load that made the fetch of `batch` wait for cores; an empty load if that is not known.
// Without workers, only other programs can take a core from the fetch.
CpuLoad LoadBeside(const LoaderRun& run, const Batch& batch, const CpuLoad& load) {
  const bool shared = run.config.num_workers > 0 || load.crowded;
  return batch.cpu_known && shared ? load : CpuLoad{};
}

// A step whose end was not seen takes `usual_step` seconds.
Demand DemandOf(const LoaderRun& run, std::size_t i, const Handover& handover, const CpuLoad& load,
                double contended, double usual_step) {
  const Batch& batch = run.batches[i];
  Demand demand;
  const bool known = batch.cpu_known;
  const CpuLoad beside = LoadBeside(run, batch, load);
  const double reading = std::max(0.0, batch.read.wall - batch.read.cpu);
  demand.read = {batch.read.wall - (beside.delays_known ? beside.delayed_reads : 0) * reading,
                 std::min(batch.read.cpu, batch.read.wall)};
  demand.decode = DecodeWithoutContention(batch.decode, beside, contended);
  demand.augment = WithoutContention(batch.augment, beside);
  demand.tokenize = WithoutContention(batch.tokenize, beside);
  demand.collate = WithoutContention(batch.collate, beside);
  const double parts = batch.read.wall + batch.decode.wall + batch.augment.wall +
                       batch.tokenize.wall + batch.collate.wall;
  const double parts_cpu = batch.read.cpu + batch.decode.cpu + batch.augment.cpu +
                           batch.tokenize.cpu + batch.collate.cpu;
  const double whole = run.config.num_workers == 0 ? batch.wait() - batch.pin.wall
                       : batch.whole               ? batch.fetch.wall
                                                   : 0;
  demand.other = WithoutContention(
      {std::max(0.0, whole - parts), known ? std::max(0.0, batch.fetch.cpu - parts_cpu) : 0},
      beside);
  const double step = batch.step_end == kNever ? usual_step : batch.step();
  demand.h2d = std::min(batch.h2d, step);
  demand.step = std::max(0.0, step - demand.h2d);
  demand.samples = SamplesOf(run, batch);
  demand.pin = batch.pin.wall;
  if (run.config.num_workers == 0) return demand;
  if (batch.put_thread == batch.fetch_thread) {
    demand.put = handover.put[i];
  } else {
    demand.feed = handover.put[i];
  }
  demand.get = handover.get[i];
  demand.next = handover.next_of[i];
  // With a pin thread, the measured latency includes that thread's work.
  demand.latency = handover.latency;
  if (handover.threaded) demand.latency = std::max(0.0, demand.latency - demand.get - demand.pin);
  return demand;
}

// Copies the costs of a batch in the workers.
void TakeService(const Demand& from, Demand& to) {
  to.read = from.read;
  to.decode = from.decode;
  to.augment = from.augment;
  to.tokenize = from.tokenize;
  to.collate = from.collate;
  to.other = from.other;
  to.put = from.put;
  to.feed = from.feed;
}

SampleCost WithoutContention(const SampleCost& cost, const CpuLoad& load, double contended) {
  const auto work = [](float wall, float cpu) {
    return Work{static_cast<double>(wall), static_cast<double>(cpu)};
  };
  const Work decode = DecodeWithoutContention(work(cost.decode, cost.decode_cpu), load, contended);
  const Work augment = WithoutContention(work(cost.augment, cost.augment_cpu), load);
  const Work tokenize = WithoutContention(work(cost.tokenize, cost.tokenize_cpu), load);
  SampleCost out = cost;
  out.read_cpu = std::min(cost.read_cpu, cost.read);
  out.decode = static_cast<float>(decode.wall);
  out.decode_cpu = static_cast<float>(decode.cpu);
  out.augment = static_cast<float>(augment.wall);
  out.augment_cpu = static_cast<float>(augment.cpu);
  out.tokenize = static_cast<float>(tokenize.wall);
  out.tokenize_cpu = static_cast<float>(tokenize.cpu);
  return out;
}

SampleCost MeanSample(const LoaderRun& run) {
  Demand sum;
  for (const SampleCost& cost : run.samples) {
    sum.read.wall += static_cast<double>(cost.read);
    sum.read.cpu += static_cast<double>(cost.read_cpu);
    sum.decode.wall += static_cast<double>(cost.decode);
    sum.decode.cpu += static_cast<double>(cost.decode_cpu);
    sum.augment.wall += static_cast<double>(cost.augment);
    sum.augment.cpu += static_cast<double>(cost.augment_cpu);
    sum.tokenize.wall += static_cast<double>(cost.tokenize);
    sum.tokenize.cpu += static_cast<double>(cost.tokenize_cpu);
  }
  const double n = std::max<double>(1, static_cast<double>(run.samples.size()));
  const auto mean = [n](double total) { return static_cast<float>(total / n); };
  return {mean(sum.read.wall),     mean(sum.read.cpu),     mean(sum.decode.wall),
          mean(sum.decode.cpu),    mean(sum.augment.wall), mean(sum.augment.cpu),
          mean(sum.tokenize.wall), mean(sum.tokenize.cpu)};
}

// Adds the sample costs of a batch. If its samples were not seen, it gets average ones. Batches
// that share recorded costs share them here too. `placed` maps the first index of such costs in
// run.samples to their first index in `epoch`.
void AddSamples(const LoaderRun& run, const Batch& batch, const SampleCost& average,
                const CpuLoad& load, double contended,
                std::unordered_map<std::size_t, std::size_t>& placed, EpochDemand& epoch) {
  Demand& demand = epoch.batches.back();
  demand.first_sample = epoch.samples.size();
  demand.tasks = batch.sample_costs > 0 ? batch.sample_costs : run.samples_per_batch;
  if (batch.sample_costs == run.samples_per_batch) {  // full batches only
    const auto [place, added] = placed.try_emplace(batch.first_sample, demand.first_sample);
    demand.first_sample = place->second;
    if (!added) return;
  }
  const CpuLoad beside = LoadBeside(run, batch, load);
  for (std::size_t k = 0; k < demand.tasks; ++k) {
    const SampleCost& cost = batch.sample_costs > 0 ? run.samples[batch.first_sample + k] : average;
    epoch.samples.push_back(WithoutContention(cost, beside, contended));
  }
}

// By batch: the index of the batch whose costs it takes, usually its own. Suppose that workers made
// the batches, and the fetches of at least half were recorded. Then a batch without a recorded
// fetch takes the costs of the last batch before it that has one, else of the first batch that has
// one.
std::vector<std::size_t> SourcesOf(const LoaderRun& run) {
  std::vector<std::size_t> sources(run.batches.size());
  std::size_t seen = 0;
  std::size_t last = run.batches.size();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    sources[i] = i;
    if (!run.batches[i].was_fetched()) continue;
    ++seen;
    if (last == sources.size()) last = i;
  }
  if (seen * 2 < sources.size() || run.config.num_workers == 0) return sources;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (run.batches[i].was_fetched()) {
      last = i;
    } else {
      sources[i] = last;
    }
  }
  return sources;
}

EpochDemand StartOf(const LoaderRun& run, const Epoch& epoch, bool first, double charged) {
  EpochDemand demand;
  demand.worker_start = WorkerStarts(run, epoch, charged);
  if (first || !run.config.persistent_workers) {
    demand.one_more = OneMoreStart(run, epoch, demand.worker_start, charged);
  }
  // Workers that made no batch in the epoch were started too, before any index was sent. Without an
  // entry the simulator would take them for workers beyond the recorded number.
  std::vector<double>& starts = demand.worker_start;
  const auto workers = static_cast<std::size_t>(std::max(0, run.config.num_workers));
  if (!starts.empty() && starts.size() < workers) {
    starts.insert(starts.end(), workers - starts.size(), double{starts.back()});
  }
  if (run.config.num_workers > 0 && !run.config.persistent_workers) {
    demand.stop = epoch.stop / run.config.num_workers;
  }
  return demand;
}

// The mean number of batches of the epochs that were seen to end; 0: there are none.
double BatchesOfEnded(const LoaderRun& run) {
  double ended = 0;
  double batches = 0;
  for (const Epoch& epoch : run.epochs) {
    if (!epoch.ended) continue;
    ended += 1;
    batches += static_cast<double>(epoch.count);
  }
  return ended > 0 ? batches / ended : 0;
}

}  // namespace

RecordedRun ReadRecorded(const RunModel& model, const LoaderRun& run, const SteadyState& steady,
                         const CpuLoad& load) {
  return {model, run, steady, MeasureHandover(run, load.own_cores, ContentionBySaturation(load)),
          SourcesOf(run)};
}

RecordedCosts RecordedCostsOf(const RecordedRun& recorded, const CpuLoad& load, bool sample_tasks) {
  const LoaderRun& run = recorded.run;
  const double contended = DecodeContention(run, recorded.steady, load);
  const double ended_mean = BatchesOfEnded(run);
  const SampleCost average = MeanSample(run);
  const double usual_step = UsualStep(run);
  std::unordered_map<std::size_t, std::size_t> placed;
  RecordedCosts costs;
  for (const Epoch& epoch : run.epochs) {
    // Sample threads begin the next epoch's batches while the loop consumes the last ones.
    if (costs.epochs.empty() || !sample_tasks) {
      costs.charged.push_back(Amortised(run, epoch, ended_mean));
      costs.epochs.push_back(StartOf(run, epoch, costs.epochs.empty(), costs.charged.back()));
    }
    EpochDemand& demand = costs.epochs.back();
    demand.ended = epoch.ended;
    for (std::size_t i = epoch.first; i < epoch.first + epoch.count; ++i) {
      demand.batches.push_back(DemandOf(run, i, recorded.handover, load, contended, usual_step));
      const std::size_t source = recorded.sources[i];
      if (source != i) {
        TakeService(DemandOf(run, source, recorded.handover, load, contended, usual_step),
                    demand.batches.back());
      }
      demand.batches.back().source = source;
      demand.batches.back().counted = recorded.steady.in_window[i];
      if (sample_tasks) AddSamples(run, run.batches[i], average, load, contended, placed, demand);
    }
  }
  return costs;
}

std::vector<double> RecordedMaking(const RecordedRun& recorded) {
  const LoaderRun& run = recorded.run;
  std::vector<double> making(run.batches.size(), 0.0);
  for (std::size_t i = 0; i < making.size(); ++i) {
    if (!recorded.steady.in_window[i]) continue;
    const std::size_t source = recorded.sources[i];
    const Batch& batch = run.batches[source];
    const bool own = batch.put_thread == batch.fetch_thread;  // the same thread also puts it
    making[i] = batch.fetch.wall + (own ? recorded.handover.put[source] : 0);
  }
  return making;
}

}  // namespace penstock::analyzer
