// SPDX-License-Identifier: Apache-2.0
//
// Each worker computes with several threads: OpenCV, OpenMP or BLAS start a pool in each worker,
// and the pools compete for the cores.
//
// Threshold: all threads of the workers together outnumber the cores, and one of two conditions
// holds.
// 1. The workers' processes use 1.2 times as much CPU time as their fetches take in wall time
//    (docs/diagnosis.md R7; with one thread per worker it cannot be more than 1), and the
//    difference is at least a quarter of a core (ours).
// 2. Threads that do not fetch use half as much CPU time as threads that fetch, and threads compete
//    for cores (ours). We measured a ratio of 1 with pools of two threads, and of 0.1 with one
//    thread. Threads compete in two cases. Either the cores are full (85 %) and there are as many
//    workers as cores. Or threads that fetch wait for a core for 20 % of their time. We measured 29
//    to 43 % with pools of 4 to 16 threads on two cores, and at most 10 % if workers without pools
//    have a core each. A pool's threads wait for each other at the end of each operation, so pools
//    can compete on cores that are not full.
// Source: mmdetection#6867 (2000 threads instead of 400, four times slower), mmocr#721, Hy2DL#48.
#include <algorithm>
#include <optional>
#include <set>

#include "analyzer/advice/rules.h"
#include "analyzer/words/findings_workers.h"
#include "analyzer/words/rule_needs.h"

namespace penstock::analyzer {

namespace {

// The largest value of a counter from `from` to `to`; 0: no sample lies there.
// Units: ns since RunModel::begin.
double MostBetween(const CounterSeries& series, std::int64_t from, std::int64_t to) {
  double most = 0;
  for (std::size_t i = 0; i < series.at.size(); ++i) {
    const double at = series.at[i] * 1e9;
    if (at >= static_cast<double>(from) && at <= static_cast<double>(to)) {
      most = std::max(most, series.value[i]);
    }
  }
  return most;
}

// CPU seconds that the workers of `run` used in the windows. A worker counts from its first fetch
// on, because before that it imports modules.
std::optional<double> CpuAtWork(const RunModel& model, const LoaderRun& run,
                                const SteadyState& steady) {
  double used = 0;
  bool any = false;
  for (const CounterSeries& series : model.counters) {
    if (series.name != "cpu_ns" || series.at.size() < 2) continue;
    std::int64_t first = kNever;
    for (const WorkerRun& worker : run.workers) {
      if (worker.process == series.process && worker.first != kNever) first = worker.first;
    }
    if (first == kNever) continue;
    any = true;
    const auto at = [&](std::int64_t time) {
      return series.ValueAt(static_cast<double>(time - model.begin.value) * 1e-9) * 1e-9;
    };
    for (const auto& [from, to] : steady.windows) {
      if (to > first) used += at(to) - at(std::max(from, first));
    }
  }
  return any ? std::optional(used) : std::nullopt;
}

}  // namespace

void CpuOversubscribed(const RuleInput& input, Advice& out) {
  constexpr double kRatio = 1.2;
  constexpr double kCpuPerFetchCpu = 1.5;  // CPU time of all threads / that of fetching threads
  constexpr double kFull = 0.85;
  constexpr double kWaits = 0.2;
  if (!input.diagnosis.loader || !input.HasWorkerProcesses()) return;
  if (!input.HasCounter("cpu_ns") || !input.HasCounter("threads")) {
    out.Needs("cpu-oversubscribed", Say<words::kRuleNeedsWorkerCpu>());
  }
  const RunModel& model = input.diagnosis.run;
  const SteadyState& steady = input.loader().steady;
  if (steady.from == kNever || steady.to <= steady.from) return;
  const LoaderRun& run = input.run();
  const auto cpu = CpuAtWork(model, run, steady);
  if (!cpu || !(steady.time > 0)) return;
  double busy = 0;
  double fetching = 0;
  double handing = 0;
  for (std::size_t i = 0; i < run.batches.size(); ++i) {
    if (!steady.in_window[i]) continue;
    busy += run.batches[i].fetch.wall;
    fetching += run.batches[i].fetch.cpu;
    handing += run.batches[i].put.cpu;
  }
  const double own = busy / steady.time;
  const double used = (*cpu - handing) / steady.time;
  Finding finding;
  double threads = 0;  // sum over the processes that were workers in the window
  std::set<std::uint32_t> seen;
  for (const CounterSeries& series : model.counters) {
    if (series.name != "threads" || series.process.value >= model.roles.size()) continue;
    if (model.roles[series.process.value] != wire::kRoleWorker || series.value.empty()) continue;
    if (!model.IsOurs(series.process)) continue;
    const double most =
        MostBetween(series, steady.from - model.begin.value, steady.to - model.begin.value);
    if (most == 0 || !seen.insert(series.process.value).second) continue;
    threads += most;
    finding.pids.push_back(input.trace.processes()[series.process.value].pid);
  }
  if (seen.empty()) return;
  // Each epoch may have had workers of its own, so more processes than workers may have been seen.
  threads *= static_cast<double>(run.config.num_workers) /
             static_cast<double>(std::max<std::size_t>(
                 seen.size(), static_cast<std::size_t>(run.config.num_workers)));
  const double cores = input.loader().cpu.own_cores;
  if (own <= 0 || threads <= cores) return;
  const bool more = used >= kRatio * own && used - own >= 0.25;
  const bool full = input.loader().cpu.saturation() >= kFull && run.config.num_workers >= cores;
  const double per_fetch_cpu = fetching > 0 ? used * steady.time / fetching : 0;
  const double core_wait = input.loader().cpu.core_wait;
  const bool compete = full || core_wait >= kWaits;
  if (!more && !(compete && per_fetch_cpu >= kCpuPerFetchCpu)) return;
  finding.id = "cpu-oversubscribed";
  finding.severity = Severity::kWarning;
  if (more) {
    finding.seen = Say<words::kCpuOversubscribed>(
        Give<"workers">(run.config.num_workers), Give<"worker_threads">(threads),
        Give<"usable_cores">(cores), Give<"cpu_per_fetch_wall">(used / own));
  } else {
    finding.seen = Say<words::kPoolsFillCores>(
        Give<"workers">(run.config.num_workers), Give<"worker_threads">(threads),
        Give<"usable_cores">(cores), GiveIf<"wait">(core_wait >= kWaits, core_wait),
        Give<"pools">(per_fetch_cpu - 1));
  }
  finding.evidence = {{"cpu_per_fetch_wall", used / own},
                      {"threshold", kRatio},
                      {"cpu_per_fetch_cpu", per_fetch_cpu},
                      {"core_wait", core_wait},
                      {"worker_threads", threads},
                      {"usable_cores", cores},
                      {"worker_cpu_cores", used}};
  finding.action = Say<words::kOneThreadEach>();
  finding.from = static_cast<double>(steady.from - input.trace.begin().value) * 1e-9;
  finding.to = static_cast<double>(steady.to - input.trace.begin().value) * 1e-9;
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
