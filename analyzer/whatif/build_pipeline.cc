// SPDX-License-Identifier: Apache-2.0
//
// From observed batches to the demands of whatif/pipeline.h.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "analyzer/stats/quantile.h"
#include "analyzer/whatif/pipeline.h"

namespace penstock::analyzer {
namespace {

double SecondsOf(std::int64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

// What lies between a worker's hands and the program's, seen from outside.
struct Handover {
  double serial = 0;      // next() when the batch was there already
  double latency = 0;     // from put to delivery when the consumer was waiting, less `serial`
  double overhead = 0;    // between two fetches of a worker that had an index
  bool threaded = false;  // another thread takes batches from the queue (pinning)
};

double ClippedGet(const Batch& batch) {
  if (batch.get_start == kNever || batch.got == kNever) return 0;
  const std::int64_t from = std::max(batch.get_start, batch.available());
  return std::min(batch.get.wall, SecondsOf(std::max<std::int64_t>(0, batch.got - from)));
}

bool WasReady(const Batch& batch) {
  constexpr std::int64_t kMargin = 500'000;  // longer than a queue hop between processes
  return batch.available() != kNever && batch.available() + kMargin < batch.wait_start;
}

Handover MeasureHandover(const LoaderRun& run) {
  Handover handover;
  std::vector<double> ready;
  std::vector<double> late;
  std::vector<double> gets;
  std::size_t threaded = 0;
  for (const Batch& batch : run.batches) {
    if (batch.available() == kNever) continue;
    if (batch.get_start != kNever && batch.get_thread != batch.wait_thread) ++threaded;
    if (batch.get_start != kNever) gets.push_back(ClippedGet(batch));
    if (WasReady(batch)) {
      ready.push_back(batch.wait());
    } else {
      const std::int64_t from = std::max(batch.available(), batch.wait_start);
      late.push_back(SecondsOf(std::max<std::int64_t>(0, batch.delivered - from)));
    }
  }
  handover.threaded = threaded * 2 > run.batches.size();
  const double late_median = Median(late);
  const double get_median = handover.threaded ? 0 : Median(gets);
  // A batch that was ready still waits behind gets of others; few of them say little.
  if (ready.size() >= 4) {
    handover.serial = Median(ready);
  } else {
    handover.serial = gets.empty() ? late_median : std::min(get_median, late_median);
  }
  handover.latency = std::max(0.0, late_median - handover.serial);

  std::map<std::pair<std::int32_t, std::uint16_t>, const Batch*> last;
  std::vector<double> gaps;
  for (const Batch& batch : run.batches) {
    if (!batch.was_fetched()) continue;
    const Batch*& before = last[{batch.worker_process, batch.key.generation}];
    if (before != nullptr && batch.index_sent != kNever && batch.index_sent < before->fetch_end) {
      const double put = before->put_thread == before->fetch_thread ? before->put.wall : 0;
      gaps.push_back(std::max(0.0, SecondsOf(batch.fetch_start - before->fetch_end) - put));
    }
    before = &batch;
  }
  handover.overhead = Median(std::move(gaps));
  return handover;
}

// What of wall minus CPU of a computing stage was waiting for a core; the rest is sleep or a lock,
// which more cores do not shorten.
//
// Decoding tells: whatever it takes beyond its CPU time was spent waiting for a core, and other
// stages waited in proportion. Without it: none while a third of the machine is idle, all of it
// when it is full. Source: diagnosis.md 0.3 (wall grows with W, CPU time stays); the ramp is ours.
// Cores that other programs hold are not ours to give: on a crowded machine the walls stay.
double ContendedTime(const Work& work, const CpuLoad& load) {
  const double waiting = std::max(0.0, work.wall - work.cpu);
  if (load.crowded) return 0;
  if (load.squeeze > 0) return std::min(waiting, std::max(0.0, load.squeeze - 1) * work.cpu);
  if (!load.known) return 0;
  return waiting * std::clamp((load.saturation() - 0.65) / (0.9 - 0.65), 0.0, 1.0);
}

Work WithoutContention(const Work& work, const CpuLoad& load) {
  return {work.wall - ContendedTime(work, load), std::min(work.cpu, work.wall)};
}

Demand DemandOf(const LoaderRun& run, const Batch& batch, const Handover& handover,
                const CpuLoad& load) {
  Demand demand;
  const bool known = batch.cpu_known;
  // Without workers nothing runs beside the fetch that could be taken away.
  const CpuLoad share = known && run.config.num_workers > 0 ? load : CpuLoad{};
  demand.read = batch.read;  // its wall is the device's, whatever the cores do
  demand.decode = WithoutContention(batch.decode, share);
  demand.augment = WithoutContention(batch.augment, share);
  demand.collate = WithoutContention(batch.collate, share);
  const double parts =
      batch.read.wall + batch.decode.wall + batch.augment.wall + batch.collate.wall;
  const double parts_cpu =
      batch.read.cpu + batch.decode.cpu + batch.augment.cpu + batch.collate.cpu;
  const double whole = run.config.num_workers == 0 ? batch.wait() : batch.fetch.wall;
  demand.other = WithoutContention(
      {std::max(0.0, whole - parts), known ? std::max(0.0, batch.fetch.cpu - parts_cpu) : 0},
      share);
  demand.h2d = std::min(batch.h2d, batch.step());
  demand.step = std::max(0.0, batch.step() - demand.h2d);
  demand.samples = SamplesOf(run, batch);
  if (run.config.num_workers == 0) return demand;
  if (batch.put_thread == batch.fetch_thread) demand.put = batch.put.wall;
  demand.station = handover.threaded ? ClippedGet(batch) + batch.pin.wall : 0;
  demand.serial = WasReady(batch) ? batch.wait() : handover.serial;
  demand.latency = std::max(0.0, handover.latency - demand.station);
  return demand;
}

// Start-up is charged in full to an epoch that was seen to its end, and in proportion to one whose
// recording was cut short; to nothing when its length is unknown.
double Amortised(const LoaderRun& run, const Epoch& epoch, double ended_mean) {
  if (epoch.ended) return 1;
  const auto seen = static_cast<double>(epoch.count);
  if (run.config.dataset_length > 0 && run.config.batch_size > 0) {
    const double expected = static_cast<double>(run.config.dataset_length) / run.config.batch_size;
    return std::min(1.0, seen / expected);
  }
  return ended_mean > 0 ? std::min(1.0, seen / ended_mean) : 0;
}

std::vector<double> WorkerStarts(const LoaderRun& run, const Epoch& epoch, double charged) {
  std::vector<double> starts;
  const std::size_t slots = std::min<std::size_t>(
      static_cast<std::size_t>(std::max(1, run.config.num_workers)), epoch.count);
  if (epoch.start == kNever || run.batches[epoch.first].key.index != 0) return starts;
  for (std::size_t w = 0; w < slots; ++w) {
    const Batch& batch = run.batches[epoch.first + w];
    const std::int64_t begun = run.config.num_workers == 0 ? batch.wait_start : batch.fetch_start;
    const double delay = begun == kNever ? 0 : SecondsOf(begun - epoch.start);
    starts.push_back(std::max(0.0, delay) * charged);
    if (run.config.num_workers == 0) break;
  }
  return starts;
}

// Steps that were pauses count as ordinary ones: the window leaves them out too.
void SmoothPauses(const SteadyState& steady, const LoaderRun& run, Pipeline& pipeline) {
  std::vector<double> steps;
  for (const Batch& batch : run.batches) steps.push_back(batch.step());
  const double median = Median(std::move(steps));
  for (const Pause& pause : steady.pauses) {
    for (std::size_t e = 0; e < run.epochs.size(); ++e) {
      const Epoch& epoch = run.epochs[e];
      if (pause.batch < epoch.first || pause.batch >= epoch.first + epoch.count) continue;
      pipeline.epochs[e].batches[pause.batch - epoch.first].step = median;
    }
  }
  // The step after the last batch of an epoch leads to the next epoch: it is not the loader's.
  for (EpochDemand& epoch : pipeline.epochs) {
    Demand& last = epoch.batches.back();
    last.step = std::min(last.step, median);
  }
}

// CPU seconds per second within the windows of all epochs: not the imports of workers that start.
std::optional<double> CpuInWindows(const RunModel& model, const SteadyState& steady,
                                   std::optional<wire::ProcessRole> role) {
  double used = 0;
  double time = 0;
  for (const auto& [from, to] : steady.windows) {
    const auto rate = model.CpuRate(role, from, to);
    if (!rate) continue;
    used += *rate * SecondsOf(to - from);
    time += SecondsOf(to - from);
  }
  return time > 0 ? std::optional(used / time) : std::nullopt;
}

// What the processes' counters show beyond the spans, per batch. Counters are samples some hundred
// milliseconds apart: with short epochs they bring in what is not the loop's, hence the limits.
void AddCpuOutsideFetch(const RunModel& model, const LoaderRun& run, const SteadyState& steady,
                        Pipeline& pipeline) {
  double fetch = 0;
  double transfer = 0;
  double step = 0;
  double count = 0;
  for (std::size_t i = 0; i < run.batches.size(); ++i) {
    if (!steady.in_window[i]) continue;
    fetch += run.batches[i].fetch.cpu;
    transfer += run.batches[i].get.cpu + run.batches[i].pin.cpu;
    step += run.batches[i].step();
    count += 1;
  }
  if (count == 0) return;
  pipeline.transfer_cpu = transfer / count;
  const auto consumer = CpuInWindows(model, steady, wire::kRoleConsumer);
  const auto workers = CpuInWindows(model, steady, wire::kRoleWorker);
  if (consumer) {
    const double outside = (*consumer * steady.time - transfer) / count;
    pipeline.step_cpu = std::clamp(outside, 0.0, pipeline.cores * step / count);
  }
  if (workers) {
    const double outside = (*workers * steady.time - fetch) / count;
    pipeline.worker_cpu = std::clamp(outside, 0.0, 0.5 * fetch / count);
  }
}

}  // namespace

CpuLoad MeasureCpuLoad(const RunModel& model, const LoaderRun& run, const SteadyState& steady) {
  // Decoding at 1.3 times its CPU time has been kept from a core; 1.1 is what faults and a busy
  // memory bus cost (diagnosis.md R5 draws the line at 1.3 for whole batches).
  constexpr double kSqueezed = 1.3;
  CpuLoad load;
  load.cores = model.host.usable_cores();
  const auto counted = CpuInWindows(model, steady, std::nullopt);
  double spans = 0;
  bool timed = false;
  Work decode;
  Work fetch;
  for (std::size_t i = 0; i < run.batches.size(); ++i) {
    const Batch& batch = run.batches[i];
    if (!steady.in_window[i]) continue;
    spans += batch.fetch.cpu + batch.put.cpu + batch.get.cpu + batch.pin.cpu;
    if (!batch.cpu_known) continue;
    timed = true;
    decode.wall += batch.decode.wall;
    decode.cpu += batch.decode.cpu;
    fetch.cpu += batch.fetch.cpu;
  }
  if (!model.mapped && decode.cpu > 0.1 * fetch.cpu && decode.cpu > 0) {
    load.squeeze = decode.wall / decode.cpu;
  }
  if (!model.host.known) return load;
  load.from_counters = counted.has_value();
  load.known = counted.has_value() || timed;
  const double from_spans = steady.time > 0 ? spans / steady.time : 0;
  load.used = std::max(counted.value_or(0), from_spans);
  load.crowded = load.known && load.squeeze >= kSqueezed && load.used < 0.8 * load.cores;
  return load;
}

Pipeline BuildPipeline(const RunModel& model, const LoaderRun& run, const SteadyState& steady) {
  Pipeline pipeline;
  pipeline.workers = run.config.num_workers;
  pipeline.prefetch = std::max(1, run.config.prefetch_factor);
  const CpuLoad load = MeasureCpuLoad(model, run, steady);
  pipeline.cores = load.cores;
  pipeline.crowded = load.crowded;
  const Handover handover = MeasureHandover(run);
  pipeline.overhead = handover.overhead;

  double ended = 0;
  double ended_batches = 0;
  for (const Epoch& epoch : run.epochs) {
    if (!epoch.ended) continue;
    ended += 1;
    ended_batches += static_cast<double>(epoch.count);
  }
  for (const Epoch& epoch : run.epochs) {
    EpochDemand demand;
    demand.warm = WarmUp(run.config, epoch.count);
    for (std::size_t i = epoch.first; i < epoch.first + epoch.count; ++i) {
      demand.batches.push_back(DemandOf(run, run.batches[i], handover, load));
    }
    const double charged = Amortised(run, epoch, ended > 0 ? ended_batches / ended : 0);
    demand.worker_start = WorkerStarts(run, epoch, charged);
    pipeline.epochs.push_back(std::move(demand));
  }
  SmoothPauses(steady, run, pipeline);
  if (pipeline.workers > 0) AddCpuOutsideFetch(model, run, steady, pipeline);
  return pipeline;
}

}  // namespace penstock::analyzer
