// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/cpu_load.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "analyzer/measure/helpers.h"

namespace penstock::analyzer {
namespace {

// Sums over the steady batches.
struct Totals {
  double spans = 0;  // CPU seconds of all their spans
  // The following sums cover only batches whose CPU time was recorded.
  bool timed = false;  // there are such batches
  Work decode;
  double fetch = 0;   // CPU seconds
  double put = 0;     // CPU seconds
  double making = 0;  // wall seconds of their fetches
};

Totals AddUp(const LoaderRun& run, const SteadyState& steady) {
  Totals totals;
  for (std::size_t i = 0; i < run.batches.size(); ++i) {
    const Batch& batch = run.batches[i];
    if (!steady.in_window[i]) continue;
    totals.spans += batch.fetch.cpu + batch.put.cpu + batch.get.cpu + batch.pin.cpu;
    if (!batch.cpu_known) continue;
    totals.timed = true;
    totals.decode.wall += batch.decode.wall;
    totals.decode.cpu += batch.decode.cpu;
    totals.fetch += batch.fetch.cpu;
    totals.put += batch.put.cpu;
    totals.making += batch.fetch.wall;
  }
  return totals;
}

// Wall time per CPU time of decoding, as the slope of a least-squares line through the samples.
// nullopt if its error exceeds 0.25 or the samples differ too little.
std::optional<double> SlopeOfDecoding(const LoaderRun& run) {
  constexpr std::size_t kFewest = 64;
  constexpr double kVague = 0.25;
  double n = 0;
  double x = 0;
  double y = 0;
  for (const SampleCost& cost : run.samples) {
    if (!(cost.decode_cpu > 0)) continue;
    n += 1;
    x += static_cast<double>(cost.decode_cpu);
    y += static_cast<double>(cost.decode);
  }
  if (n < kFewest) return std::nullopt;
  x /= n;
  y /= n;
  double xx = 0;
  double xy = 0;
  double yy = 0;
  for (const SampleCost& cost : run.samples) {
    if (!(cost.decode_cpu > 0)) continue;
    const double dx = static_cast<double>(cost.decode_cpu) - x;
    const double dy = static_cast<double>(cost.decode) - y;
    xx += dx * dx;
    xy += dx * dy;
    yy += dy * dy;
  }
  if (!(std::sqrt(xx / n) > 0.1 * x)) return std::nullopt;
  const double slope = xy / xx;
  const double left = std::max(0.0, yy - slope * xy) / (n - 2);
  if (std::sqrt(left / xx) > kVague) return std::nullopt;
  return std::clamp(slope, 1.0, y / x);  // other waiting is not negative
}

// The slowdown of decoding; 0: not known, or decoding waited for something else.
double DecodeSlowdown(const RunModel& model, const LoaderRun& run, const Totals& totals) {
  const Work& decode = totals.decode;
  if (model.mapped || !(decode.cpu > 0.1 * totals.fetch) || !(decode.cpu > 0)) return 0;
  // Decoding that computes for less than a twentieth of its time sleeps. Cores would have to be
  // shared by twenty programs each to explain it, and nobody trains on such a machine.
  constexpr double kImplausible = 20;
  const double ratio = decode.wall / decode.cpu;
  if (!(ratio < kImplausible)) return 0;
  if (const auto slope = SlopeOfDecoding(run)) {
    // If the slope explains less than half of the waiting, decoding mostly sleeps; that the sleep
    // grows with the picture is then chance.
    const bool explains = *slope - 1 >= 0.5 * (ratio - 1) || ratio < 1.3;
    return explains ? *slope : 0;
  }
  return ratio;
}

// Seconds in which the first thread of a process was kept from a core, from `from` on (seconds of
// the run). The counter was 0 when the process started, at `seen`.
double DelaySince(const CounterSeries& series, double from, double seen) {
  double before = series.ValueAt(from);
  if (from < series.at.front()) {
    const double young = series.at.front() - std::min(seen, from);
    before *= young > 0 ? (from - std::min(seen, from)) / young : 0;
  }
  return std::max(0.0, series.value.back() - before) * 1e-9;
}

// Measures how long workers waited for a core within their batches. All recorded batches count,
// because the windows of short epochs hold deliveries of batches that were made before them. As a
// rule, computing waits only for cores. So the delay is first counted as waiting of computing, and
// the remainder as waiting of reads.
//
// Returns the wall time of computing for each second of its CPU time; nullopt: not known.
std::optional<double> MeasureDelay(const RunModel& model, const LoaderRun& run, CpuLoad& load) {
  if (run.config.sample_tasks || run.config.num_workers == 0) return std::nullopt;
  std::map<std::uint32_t, double> delays;  // by process
  for (const CounterSeries& series : model.counters) {
    if (series.name != "run_delay_ns" || series.at.size() < 2) continue;
    for (const WorkerRun& worker : run.workers) {
      if (worker.process != series.process || worker.first == kNever) continue;
      if (worker.process == run.config.consumer) continue;  // its first thread is the loop's
      const double first = Seconds(TimeNs{worker.first - model.begin.value});
      const double seen = Seconds(TimeNs{worker.seen - model.begin.value});
      delays[series.process.value] = DelaySince(series, first, seen);
    }
  }
  double wall = 0;
  double reads = 0;
  double rest = 0;
  for (const Batch& batch : run.batches) {
    if (!batch.was_fetched() || !batch.cpu_known || batch.worker_process < 0) continue;
    if (delays.count(static_cast<std::uint32_t>(batch.worker_process)) == 0) continue;
    wall += batch.fetch.wall;
    const double waiting = std::max(0.0, batch.fetch.wall - batch.fetch.cpu);
    const double reading = std::min(waiting, std::max(0.0, batch.read.wall - batch.read.cpu));
    reads += reading;
    rest += waiting - reading;
  }
  double delayed = 0;
  for (const auto& [process, delay] : delays) delayed += delay;
  if (!(wall > 0)) return std::nullopt;
  load.delays_known = true;
  load.delayed_rest = rest > 0 ? std::min(1.0, delayed / rest) : 0;
  load.delayed_reads = reads > 0 ? std::clamp((delayed - rest) / reads, 0.0, 1.0) : 0;
  delayed = std::min(delayed, reads + rest);
  load.core_wait = delayed / wall;
  const double computing = wall - reads - rest;
  return computing > 0 ? std::optional(1 + delayed / computing) : std::nullopt;
}

// The worker processes of `run`. Workers may also be threads of the training process. The training
// process is left out, because its counters include the loop.
std::set<std::uint32_t> ProcessesOfWorkers(const LoaderRun& run) {
  std::set<std::uint32_t> processes;
  for (const WorkerRun& worker : run.workers) {
    if (worker.process != run.config.consumer) processes.insert(worker.process.value);
  }
  return processes;
}

template <class Rate>
std::optional<double> InWindows(const SteadyState& steady, Rate rate_of) {
  double used = 0;
  double time = 0;
  for (const auto& [from, to] : steady.windows) {
    const auto rate = rate_of(from, to);
    if (!rate) continue;
    used += *rate * Seconds(TimeNs{to - from});
    time += Seconds(TimeNs{to - from});
  }
  return time > 0 ? std::optional(used / time) : std::nullopt;
}

}  // namespace

std::optional<double> CpuInWindows(const RunModel& model, const SteadyState& steady,
                                   std::optional<wire::ProcessRole> role) {
  return InWindows(
      steady, [&](std::int64_t from, std::int64_t to) { return model.CpuRate(role, from, to); });
}

std::optional<double> CpuInWindows(const RunModel& model, const SteadyState& steady,
                                   const std::function<bool(ProcessId)>& counts) {
  return InWindows(
      steady, [&](std::int64_t from, std::int64_t to) { return model.CpuRate(counts, from, to); });
}

std::optional<double> WorkersCpuInWindows(const RunModel& model, const LoaderRun& run,
                                          const SteadyState& steady) {
  const std::set<std::uint32_t> processes = ProcessesOfWorkers(run);
  return CpuInWindows(model, steady, [&](ProcessId one) { return processes.count(one.value) > 0; });
}

bool HaveFurtherThreads(const RunModel& model, const LoaderRun& run, const SteadyState& steady) {
  constexpr double kUsual = 3;
  constexpr double kOften = 0.1;
  const std::set<std::uint32_t> processes = ProcessesOfWorkers(run);
  double looks = 0;
  double more = 0;
  for (const CounterSeries& series : model.counters) {
    if (series.name != "threads" || processes.count(series.process.value) == 0) continue;
    for (std::size_t i = 0; i < series.at.size(); ++i) {
      const std::int64_t at = model.begin.value + static_cast<std::int64_t>(series.at[i] * 1e9);
      const bool inside = std::any_of(
          steady.windows.begin(), steady.windows.end(),
          [at](const auto& window) { return at >= window.first && at <= window.second; });
      looks += inside ? 1 : 0;
      more += inside && series.value[i] > kUsual ? 1 : 0;
    }
  }
  return looks > 0 && more >= kOften * looks;
}

namespace {

// Whether worker processes compute for the batches in other threads than the fetching one.
bool ComputeInThreads(const RunModel& model, const LoaderRun& run, const SteadyState& steady,
                      const Totals& totals) {
  if (run.config.num_workers == 0 || !HaveFurtherThreads(model, run, steady)) return false;
  const auto cpu = WorkersCpuInWindows(model, run, steady);
  return cpu && *cpu * steady.time - totals.fetch - totals.put > kLeastOfThreads * totals.fetch;
}

}  // namespace

CpuLoad MeasureCpuLoad(const RunModel& model, const LoaderRun& run, const SteadyState& steady) {
  // Decoding that takes 1.3 times its CPU time was kept from a core; page faults and a busy memory
  // bus cost up to 1.1 (docs/diagnosis.md R5).
  constexpr double kSlowedDown = 1.3;
  constexpr double kHelped = 0.2;  // ours
  CpuLoad load;
  load.cores = model.host_cores();
  load.own_cores = model.host.usable_cores();
  const HelpersCpu helpers = MeasureHelpers(model, steady);
  load.helpers = helpers.sum();
  const Totals totals = AddUp(run, steady);
  load.decode_slowdown = DecodeSlowdown(model, run, totals);
  // The slowdown of all computing if the kernel's account was recorded, otherwise of decoding
  // alone.
  const double slowdown = MeasureDelay(model, run, load).value_or(load.decode_slowdown);
  // A decoder that waits for longer than its thread was kept from a core waits for threads of its
  // own (FFmpeg's).
  if (load.delays_known &&
      load.decode_slowdown > 1 + load.core_wait * totals.making / totals.decode.cpu) {
    load.decode_slowdown = std::min(load.decode_slowdown, slowdown);
  }
  if (!model.host.known) return load;
  const auto counted = CpuInWindows(model, steady, std::nullopt);
  load.from_counters = counted.has_value();
  load.known = counted.has_value() || totals.timed;
  const double from_spans = steady.time > 0 ? totals.spans / steady.time : 0;
  // With spans alone, the other ranks are assumed to be like this one.
  load.used = std::max(counted.value_or(0),
                       counted ? from_spans : from_spans * load.cores / load.own_cores);
  load.used += helpers.unseen;
  // Ranks share the host's cores as they need them. A rank that used more than its equal part,
  // while the others used what they needed, can use that many cores.
  if (model.host.ranks > 1 && counted) {
    const double own = CpuInWindows(model, steady, wire::kRoleConsumer).value_or(0) +
                       CpuInWindows(model, steady, wire::kRoleWorker).value_or(0);
    const double left = std::max(load.cores, *counted) - std::max(0.0, *counted - own);
    load.own_cores = std::max(load.own_cores, std::min(own, left));
    load.cores = std::max(load.cores, load.own_cores);
  }
  // Processes of one run that wake each other also wait for cores. The slowdown of decoding shows
  // whether other programs are the reason. The scheduler may by chance not have delayed decoding.
  // So the slowdown of all computing also shows this, if batches spend enough of their time waiting
  // for cores: a tenth if nothing is decoded, otherwise a third.
  const double enough = load.decode_slowdown > 0 ? 1.0 / 3 : 0.1;
  const double seen = std::max(load.decode_slowdown, load.core_wait >= enough ? slowdown : 0);
  // A process that starts a program and waits for its end seems to wait for a core, but that
  // program is using the core.
  load.helped = load.helpers >= kHelped * load.used;
  load.threaded = ComputeInThreads(model, run, steady, totals);
  load.crowded = load.known && !load.helped && !load.threaded && seen >= kSlowedDown &&
                 load.used < 0.8 * load.cores;
  if (!load.crowded) return load;
  // Each thread runs at 1 / slowdown of full speed, so cores * slowdown threads compete. One
  // worker's thread and `beside` others are recorded threads: at that speed they use the CPU time
  // that the counters show. The other threads belong to other programs.
  double threads = std::max(1, run.config.num_workers);
  threads *= load.cores / load.own_cores;  // each rank has as many
  const double beside = load.used * slowdown * (threads - 1) / threads;
  load.others = std::max(0.0, load.cores * slowdown - 1 - beside);
  return load;
}

}  // namespace penstock::analyzer
