// SPDX-License-Identifier: Apache-2.0
//
// The data is there, and the GPU still stands idle inside the step: the program cannot launch fast
// enough, or its process gets no core.
// Threshold: 15 % of the run idle beside waits (xprof calls 15 % of kernel launch severe), while
// the loop waits less than 5 %. The sum counts, not each gap: nsys' 500 ms a gap never speaks.
// Source: diagnosis.md R35; SPDL's noisy neighbour.
#include <fmt/core.h>

#include "analyzer/advice/rules.h"
#include "analyzer/model/device_activity.h"

namespace penstock::analyzer {

void KernelLaunchBound(const RuleInput& input, Findings& out) {
  if (!input.diagnosis.loader || input.diagnosis.wait_fraction >= 0.05) return;
  if (input.diagnosis.run.stages[traces::StageId::kKernel].count == 0) return;
  const SteadyState& steady = input.loader().steady;
  const DeviceActivity activity = MeasureDevice(input.trace, steady.from, steady.to);
  if (activity.window <= 0 || activity.computing <= 0) return;
  const double busy = (activity.computing + activity.copying - activity.hidden) / activity.window;
  const double idle = 1 - busy - input.diagnosis.wait_fraction;
  if (idle < 0.15) return;
  const CpuLoad& cpu = input.loader().cpu;
  const bool starved = cpu.known && cpu.saturation() >= 0.8;
  Finding finding;
  finding.id = "kernel-launch-bound";
  finding.severity = Severity::kWarning;
  finding.title = fmt::format("the GPU is idle {:.0f} % of the time although batches are ready{}",
                              100 * idle, starved ? ", and the cores are full" : "");
  finding.evidence = {{"idle_share", idle},
                      {"threshold", 0.15},
                      {"kernel_share", activity.computing / activity.window},
                      {"wait_fraction", input.diagnosis.wait_fraction},
                      {"cpu_saturation", cpu.known ? cpu.saturation() : 0}};
  finding.action =
      starved
          ? "Leave the training process a core of its own: fewer workers, or nice for them "
            "(os.nice(10) in worker_init_fn)."
          : "Launch less: torch.compile(mode='reduce-overhead') or CUDA graphs, larger batches, "
            "no .item() and no printing of losses inside the step. The prediction is for a step "
            "without idle time.";
  if (!starved) {
    const double step = 1 - input.diagnosis.wait_fraction;
    finding.predicted = input.WithScaled(Factor::kCompute, std::max(0.0, 1 - idle / step));
  }
  finding.from = static_cast<double>(steady.from - input.trace.begin().value) * 1e-9;
  finding.to = static_cast<double>(steady.to - input.trace.begin().value) * 1e-9;
  out.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
