// SPDX-License-Identifier: Apache-2.0
//
// Workers compute with more threads than their own: OpenCV, OpenMP or BLAS start a pool in each of
// them, and the pools fight for the cores.
// Threshold: processes of the workers use 1.2 times the CPU that their fetches have wall time
// (docs/diagnosis.md R7), which a single thread cannot, and all their threads outnumber the cores;
// at least a quarter of a core more than one thread could use (ours). Source: mmdetection#6867
// (2000 threads instead of 400, four times slower), mmocr#721, Hy2DL#48.
#include <algorithm>
#include <set>

#include "analyzer/advice/rules.h"
#include "analyzer/words/findings_workers.h"
#include "analyzer/words/rule_needs.h"

namespace penstock::analyzer {

namespace {

// The largest value of a counter between two times, in ns since it began; 0: no sample lies there.
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

}  // namespace

void CpuOversubscribed(const RuleInput& input, Advice& out) {
  constexpr double kRatio = 1.2;
  if (!input.diagnosis.loader || !input.HasWorkerProcesses()) return;
  if (!input.HasCounter("cpu_ns") || !input.HasCounter("threads")) {
    out.Needs("cpu-oversubscribed", Say<words::kRuleNeedsWorkerCpu>());
  }
  const RunModel& model = input.diagnosis.run;
  const SteadyState& steady = input.loader().steady;
  if (steady.from == kNever || steady.to <= steady.from) return;
  const auto cpu = model.CpuRate(wire::kRoleWorker, steady.from, steady.to);
  if (!cpu) return;
  double busy = 0;
  double handing = 0;
  const LoaderRun& run = input.run();
  for (std::size_t i = 0; i < run.batches.size(); ++i) {
    if (!steady.in_window[i]) continue;
    busy += run.batches[i].fetch.wall;
    handing += run.batches[i].put.cpu;
  }
  const double time = static_cast<double>(steady.to - steady.from) * 1e-9;
  const double own = busy / time;
  const double used = *cpu - handing / time;
  Finding finding;
  double threads = 0;  // of the processes that were workers in the window, in all
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
  // Each epoch may have had workers of its own.
  threads *= static_cast<double>(run.config.num_workers) /
             static_cast<double>(std::max<std::size_t>(
                 seen.size(), static_cast<std::size_t>(run.config.num_workers)));
  const double cores = input.loader().cpu.own_cores;
  if (own <= 0 || used < kRatio * own || used - own < 0.25 || threads <= cores) return;
  finding.id = "cpu-oversubscribed";
  finding.severity = Severity::kWarning;
  finding.seen = Say<words::kCpuOversubscribed>(
      Give<"workers">(run.config.num_workers), Give<"worker_threads">(threads),
      Give<"usable_cores">(cores), Give<"cpu_per_fetch_wall">(used / own));
  finding.evidence = {{"cpu_per_fetch_wall", used / own},
                      {"threshold", kRatio},
                      {"worker_threads", threads},
                      {"usable_cores", cores},
                      {"worker_cpu_cores", used}};
  finding.action = Say<words::kOneThreadEach>();
  finding.from = static_cast<double>(steady.from - input.trace.begin().value) * 1e-9;
  finding.to = static_cast<double>(steady.to - input.trace.begin().value) * 1e-9;
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
