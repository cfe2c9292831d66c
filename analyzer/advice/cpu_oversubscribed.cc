// SPDX-License-Identifier: Apache-2.0
//
// Workers compute with more threads than their own: OpenCV, OpenMP or BLAS start a pool in each of
// them, and the pools fight for the cores.
// Threshold: processes of the workers use 1.2 times the CPU that their fetches have wall time
// (docs/diagnosis.md R7), which a single thread cannot, and all their threads outnumber the cores;
// at least a quarter of a core more than one thread could use (ours). Source: mmdetection#6867
// (2000 threads instead of 400, four times slower), mmocr#721, Hy2DL#48.
#include <fmt/core.h>
#include <algorithm>

#include "analyzer/advice/rules.h"
#include "analyzer/report/format.h"

namespace penstock::analyzer {

void CpuOversubscribed(const RuleInput& input, Findings& out) {
  constexpr double kRatio = 1.2;
  if (!input.diagnosis.loader || input.run().config.sample_tasks) return;
  if (input.run().config.num_workers == 0) return;
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
  double threads = 0;
  for (const CounterSeries& series : model.counters) {
    if (series.name != "threads" || series.process.value >= model.roles.size()) continue;
    if (model.roles[series.process.value] != wire::kRoleWorker || series.value.empty()) continue;
    if (!model.IsOurs(series.process)) continue;
    threads += *std::max_element(series.value.begin(), series.value.end());
    finding.pids.push_back(input.trace.processes()[series.process.value].pid);
  }
  const double cores = input.loader().cpu.own_cores;
  if (own <= 0 || used < kRatio * own || used - own < 0.25 || threads <= cores) return;
  finding.id = "cpu-oversubscribed";
  finding.severity = Severity::kWarning;
  finding.title = fmt::format(
      "{} with {:.0f} threads on {:.3g} cores: {:.1f} times the CPU time of one thread each",
      CountedText(run.config.num_workers, "worker"), threads, cores, used / own);
  finding.evidence = {{"cpu_per_fetch_wall", used / own},
                      {"threshold", kRatio},
                      {"worker_threads", threads},
                      {"usable_cores", cores},
                      {"worker_cpu_cores", used}};
  finding.action =
      "Let each worker compute with one thread: OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 "
      "OPENBLAS_NUM_THREADS=1 in the environment, and cv2.setNumThreads(0) in worker_init_fn.";
  finding.from = static_cast<double>(steady.from - input.trace.begin().value) * 1e-9;
  finding.to = static_cast<double>(steady.to - input.trace.begin().value) * 1e-9;
  out.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
