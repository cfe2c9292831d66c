// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/build_pipeline.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <unordered_map>

#include "analyzer/measure/contention.h"
#include "analyzer/measure/core_waits.h"
#include "analyzer/measure/device_steps.h"
#include "analyzer/measure/handover.h"
#include "analyzer/measure/starts.h"
#include "analyzer/measure/unequal.h"
#include "analyzer/measure/warm_up.h"
#include "analyzer/measure/worker_threads.h"
#include "analyzer/stats/quantile.h"

namespace penstock::analyzer {
namespace {

// Without workers nothing runs beside the fetch that could be taken away, but other programs.
CpuLoad ShareOf(const LoaderRun& run, const Batch& batch, const CpuLoad& load) {
  const bool shared = run.config.num_workers > 0 || load.crowded;
  return batch.cpu_known && shared ? load : CpuLoad{};
}

Demand DemandOf(const LoaderRun& run, std::size_t i, const Handover& handover, const CpuLoad& load,
                double contended) {
  const Batch& batch = run.batches[i];
  Demand demand;
  const bool known = batch.cpu_known;
  const CpuLoad share = ShareOf(run, batch, load);
  const double reading = std::max(0.0, batch.read.wall - batch.read.cpu);
  demand.read = {batch.read.wall - (share.delays_known ? share.delayed_reads : 0) * reading,
                 std::min(batch.read.cpu, batch.read.wall)};
  demand.decode = DecodeAlone(batch.decode, share, contended);
  demand.augment = WithoutContention(batch.augment, share);
  demand.collate = WithoutContention(batch.collate, share);
  const double parts =
      batch.read.wall + batch.decode.wall + batch.augment.wall + batch.collate.wall;
  const double parts_cpu =
      batch.read.cpu + batch.decode.cpu + batch.augment.cpu + batch.collate.cpu;
  const double whole = run.config.num_workers == 0 ? batch.wait() - batch.pin.wall
                       : batch.whole               ? batch.fetch.wall
                                                   : 0;
  demand.other = WithoutContention(
      {std::max(0.0, whole - parts), known ? std::max(0.0, batch.fetch.cpu - parts_cpu) : 0},
      share);
  demand.h2d = std::min(batch.h2d, batch.step());
  demand.step = std::max(0.0, batch.step() - demand.h2d);
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
  // Behind a pin thread the hop holds what that thread does too.
  demand.latency = handover.latency;
  if (handover.threaded) demand.latency = std::max(0.0, demand.latency - demand.get - demand.pin);
  return demand;
}

// What the workers did for a batch.
void TakeService(const Demand& from, Demand& to) {
  to.read = from.read;
  to.decode = from.decode;
  to.augment = from.augment;
  to.collate = from.collate;
  to.other = from.other;
  to.put = from.put;
  to.feed = from.feed;
}

SampleCost WithoutContention(const SampleCost& cost, const CpuLoad& load, double contended) {
  const auto work = [](float wall, float cpu) {
    return Work{static_cast<double>(wall), static_cast<double>(cpu)};
  };
  const Work decode = DecodeAlone(work(cost.decode, cost.decode_cpu), load, contended);
  const Work augment = WithoutContention(work(cost.augment, cost.augment_cpu), load);
  SampleCost out = cost;
  out.read_cpu = std::min(cost.read_cpu, cost.read);
  out.decode = static_cast<float>(decode.wall);
  out.decode_cpu = static_cast<float>(decode.cpu);
  out.augment = static_cast<float>(augment.wall);
  out.augment_cpu = static_cast<float>(augment.cpu);
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
  }
  const double n = std::max<double>(1, static_cast<double>(run.samples.size()));
  const auto mean = [n](double total) { return static_cast<float>(total / n); };
  return {mean(sum.read.wall),  mean(sum.read.cpu),     mean(sum.decode.wall),
          mean(sum.decode.cpu), mean(sum.augment.wall), mean(sum.augment.cpu)};
}

// A batch whose samples were not seen is made of average ones. Batches that share recorded costs
// share them here too, wherever the first of them lies: `placed`, by its place in run.samples.
void AddSamples(const LoaderRun& run, const Batch& batch, const SampleCost& average,
                const CpuLoad& load, double contended,
                std::unordered_map<std::size_t, std::size_t>& placed, EpochDemand& epoch) {
  Demand& demand = epoch.batches.back();
  demand.first_sample = epoch.samples.size();
  demand.tasks = batch.sample_costs > 0 ? batch.sample_costs : run.samples_per_batch;
  if (batch.sample_costs == run.samples_per_batch) {  // all of one length
    const auto [place, added] = placed.try_emplace(batch.first_sample, demand.first_sample);
    demand.first_sample = place->second;
    if (!added) return;
  }
  const CpuLoad share = ShareOf(run, batch, load);
  for (std::size_t k = 0; k < demand.tasks; ++k) {
    const SampleCost& cost = batch.sample_costs > 0 ? run.samples[batch.first_sample + k] : average;
    epoch.samples.push_back(WithoutContention(cost, share, contended));
  }
}

// Which batch's costs stand for batch i: its own, or, where its making was not seen in a recording
// that lost a part, those of the one before it that was (or of the first one).
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

// Steps that were pauses count as ordinary ones: the window leaves them out too.
void SmoothPauses(const SteadyState& steady, const LoaderRun& run, Pipeline& pipeline) {
  std::vector<double> steps;
  for (const Batch& batch : run.batches) steps.push_back(batch.step());
  const double median = Median(std::move(steps));
  std::vector<Demand*> demands;  // of run.batches
  for (EpochDemand& epoch : pipeline.epochs) {
    for (Demand& demand : epoch.batches) demands.push_back(&demand);
  }
  for (const Pause& pause : steady.pauses) demands[pause.batch]->step = median;
  // The step after the last batch of an epoch leads to the next epoch: it is not the loader's.
  for (EpochDemand& epoch : pipeline.epochs) {
    Demand& last = epoch.batches.back();
    last.step = std::min(last.step, median);
  }
}

// The counters of a shorter run are too coarse to show threads that spans do not.
constexpr double kTellingTime = 2;

// What the training process computes beyond what the cores could during its steps, threads of the
// dataset's own compute while it waits for them, though none was seen to decode: of each batch.
double ThreadsUnseen(double seconds, double whole, double batches) {
  constexpr double kLeast = 0.2;  // of all that the process computes (ours)
  return seconds < kLeast * whole || batches <= 0 ? 0 : seconds / batches;
}

// What the processes' counters show beyond the spans. Counters are samples some hundred
// milliseconds apart: with short epochs they bring in what is not the loop's, hence the limits.
//
// Returns CPU seconds of each batch that other threads of its worker computed.
double AddCpuOutsideFetch(const RunModel& model, const LoaderRun& run, const SteadyState& steady,
                          const CpuLoad& load, Pipeline& pipeline) {
  double fetch = 0;
  double put = 0;
  double transfer = 0;
  double step = 0;
  double samples = 0;
  double count = 0;
  std::vector<const Demand*> demands;  // of run.batches
  for (const EpochDemand& epoch : pipeline.epochs) {
    for (const Demand& demand : epoch.batches) demands.push_back(&demand);
  }
  for (std::size_t i = 0; i < run.batches.size(); ++i) {
    if (!steady.in_window[i]) continue;
    const Batch& batch = run.batches[i];
    const bool here = ProcessId{static_cast<std::uint32_t>(batch.worker_process)} == batch.consumer;
    fetch += here ? 0 : batch.fetch.cpu;
    const Demand& demand = *demands[i];
    put += demand.put + pipeline.feed_share * demand.feed;
    transfer += pipeline.get_share * demand.get + demand.next + batch.pin.cpu +
                (here ? batch.fetch.cpu : 0);
    step += batch.step();
    samples += static_cast<double>(batch.sample_costs);
    count += 1;
  }
  if (count == 0) return 0;
  const auto consumer = CpuInWindows(model, steady, wire::kRoleConsumer);
  // Beside the workers of loaders that are drained together with this one, its own.
  const auto workers = run.use == LoopUse::kInterleaved
                           ? WorkersCpuInWindows(model, run, steady)
                           : CpuInWindows(model, steady, wire::kRoleWorker);
  double beside = steady.time >= kTellingTime ? load.helpers * steady.time / count : 0;
  if (run.config.num_workers == 0) {
    beside += run.threads_cpu / static_cast<double>(run.batches.size());
  }
  if (consumer && step > 0) {
    // Of threads that make samples in the consumer's process, what lies between two of them too.
    double between = pipeline.sample_tasks ? pipeline.overhead * samples : 0;
    between += run.threads_cpu * count / static_cast<double>(run.batches.size());
    const double outside = std::max(0.0, *consumer * steady.time - transfer - between);
    const double most = SetStepLoad(outside, step, steady.time, pipeline);
    if (run.config.num_workers == 0 && steady.time >= kTellingTime) {
      beside += ThreadsUnseen(outside - most * step, *consumer * steady.time, count);
    }
  }
  AddThreadsBeside(beside, pipeline);
  if (!workers || pipeline.workers <= 0) return 0;
  // What the spans do not hold of a worker is its queue's, or that of further threads: it is taken
  // for theirs where it is half as much as the batch itself.
  constexpr double kMostOfQueue = 0.5;
  const double outside = std::max(0.0, (*workers * steady.time - fetch) / count);
  const double handing = put / count + pipeline.overhead;
  const bool threads = outside - handing > kMostOfQueue * fetch / count;
  pipeline.worker_cpu = threads ? handing : outside;
  return threads ? outside - handing : 0;
}

// What every pipeline of a recording is built with.
struct Recorded {
  Handover handover;
  std::vector<std::size_t> sources;
};

// Seconds that each batch of the steady part took to be made; 0 for others. A batch that was not
// seen to be made took as long as the one whose costs it has in the replay.
std::vector<double> RecordedMaking(const LoaderRun& run, const SteadyState& steady,
                                   const Recorded& recorded) {
  std::vector<double> making(run.batches.size(), 0.0);
  for (std::size_t i = 0; i < making.size(); ++i) {
    if (!steady.in_window[i]) continue;
    const std::size_t source = recorded.sources[i];
    const Batch& batch = run.batches[source];
    const bool own = batch.put_thread == batch.fetch_thread;  // it also hands it over
    making[i] = batch.fetch.wall + (own ? recorded.handover.put[source] : 0);
  }
  return making;
}

Pipeline PipelineOf(const RunModel& model, const LoaderRun& run, const SteadyState& steady,
                    const CpuLoad& load, const Recorded& recorded) {
  Pipeline pipeline;
  pipeline.workers = run.config.num_workers;
  pipeline.prefetch = std::max(1, run.config.prefetch_factor);
  pipeline.cores = load.own_cores;
  pipeline.others = load.others * load.own_cores / load.cores;
  pipeline.crowded = load.crowded;
  const double contended = ContendedPart(run, steady, load);
  const auto& [handover, sources] = recorded;
  pipeline.overhead = handover.overhead;
  pipeline.feed_share = handover.put_share;
  pipeline.get_share = handover.get_share;
  pipeline.asking = handover.asking;
  if (handover.preempted) pipeline.preempted = *handover.preempted;
  pipeline.pin_thread = handover.threaded;
  pipeline.in_order = run.config.in_order;
  pipeline.sample_tasks = run.config.sample_tasks && run.config.num_workers > 0;
  // The reference loader's ring has one more: the batch in the program's hands.
  if (pipeline.sample_tasks) ++pipeline.prefetch;

  double ended = 0;
  double ended_batches = 0;
  for (const Epoch& epoch : run.epochs) {
    if (!epoch.ended) continue;
    ended += 1;
    ended_batches += static_cast<double>(epoch.count);
  }
  const SampleCost average = MeanSample(run);
  std::unordered_map<std::size_t, std::size_t> placed;
  std::vector<double> charged;  // of the start-up of each epoch
  for (const Epoch& epoch : run.epochs) {
    // Sample threads go on to the next epoch's batches while the last ones are consumed.
    if (pipeline.epochs.empty() || !pipeline.sample_tasks) {
      charged.push_back(Amortised(run, epoch, ended > 0 ? ended_batches / ended : 0));
      pipeline.epochs.emplace_back();
      std::vector<double>& starts = pipeline.epochs.back().worker_start;
      starts = WorkerStarts(run, epoch, charged.back());
      if (pipeline.epochs.size() == 1 || !run.config.persistent_workers) {
        pipeline.epochs.back().one_more = OneMoreStart(run, epoch, starts, charged.back());
      }
      if (run.config.num_workers > 0 && !run.config.persistent_workers) {
        pipeline.epochs.back().stop = epoch.stop / run.config.num_workers;
      }
    }
    EpochDemand& demand = pipeline.epochs.back();
    demand.ended = epoch.ended;
    for (std::size_t i = epoch.first; i < epoch.first + epoch.count; ++i) {
      demand.batches.push_back(DemandOf(run, i, handover, load, contended));
      if (sources[i] != i) {
        TakeService(DemandOf(run, sources[i], handover, load, contended), demand.batches.back());
      }
      demand.batches.back().counted = steady.in_window[i];
      if (pipeline.sample_tasks) {
        AddSamples(run, run.batches[i], average, load, contended, placed, demand);
      }
    }
  }
  ShareStorage(model, run, pipeline);
  SetWarmUpApart(run, steady, charged, pipeline);
  SetSlowWorkersApart(run, steady, pipeline);
  SmoothPauses(steady, run, pipeline);
  const auto making = [&] { return RecordedMaking(run, steady, recorded); };
  const double threads = AddCpuOutsideFetch(model, run, steady, load, pipeline);
  if (threads > 0) {
    pipeline.others = 0;  // who else wanted the cores is known
    pipeline.crowded = false;
    AddWorkerThreads(run, steady, threads, making(), pipeline);
  }
  // Other programs are simulated with what decoding tells of them.
  if (!load.delays_known && !load.crowded && Crowding(load) > 0) {
    ScaleWaiting(pipeline, GenuineWaiting(pipeline, making()));
  }
  if (model.has_loader() && &run == &model.loader()) {
    UseDevice(run, model.device, steady, pipeline);
  }
  return pipeline;
}

}  // namespace

double SetStepLoad(double outside, double step, double time, Pipeline& pipeline) {
  constexpr double kLeast = 0.05;
  pipeline.step_load_known = step >= kLeast * time;
  const double most = pipeline.step_load_known ? pipeline.cores : std::min(1.0, pipeline.cores);
  pipeline.step_load = step > 0 ? std::min(outside / step, most) : 0;
  return most;
}

Pipeline BuildPipeline(const RunModel& model, const LoaderRun& run, const SteadyState& steady,
                       const CpuLoad& load) {
  const Recorded recorded{MeasureHandover(run, load.own_cores, Crowding(load)), SourcesOf(run)};
  Pipeline pipeline = PipelineOf(model, run, steady, load, recorded);
  const bool processes = pipeline.workers > 0 && !pipeline.sample_tasks;
  if (run.use == LoopUse::kInterleaved) return pipeline;  // others shared the cores
  if (!processes || !load.delays_known || !load.known) return pipeline;
  const MakingReplay replay(pipeline, RecordedMaking(run, steady, recorded));
  if (!(replay.recorded() > 0)) return pipeline;
  const double missed = 1 - replay.Simulated([](Pipeline&) {}) / replay.recorded();
  const double staying = StayingWait(load, missed, TakenOff(run, steady, load));
  if (!(staying > 0)) return pipeline;
  CpuLoad less = load;
  less.delayed_reads *= 1 - staying;
  less.delayed_rest *= 1 - staying;
  return PipelineOf(model, run, steady, less, recorded);
}

}  // namespace penstock::analyzer
