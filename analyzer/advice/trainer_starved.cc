// SPDX-License-Identifier: Apache-2.0
//
// Batches are ready and the GPU still stands idle inside the step, because the cores are full: the
// process that launches kernels gets none when it needs one.
// Threshold: as kernel-launch-bound, and 80 % of the usable cores in use (diagnosis.md R35 says 60
// to 80 %), or other programs that keep the run from its cores.
// Prediction: the best of fewer workers, where one is better; the trace does not tell how much of
// the step is waiting for a core, so the most that can be had is a step without idle time.
// Source: diagnosis.md R35; SPDL's noisy neighbour (its advice: at most 40 % of the cores).
#include <algorithm>

#include <fmt/core.h>

#include "analyzer/advice/gpu_room.h"
#include "analyzer/advice/place.h"

namespace penstock::analyzer {

void TrainerStarved(const RuleInput& input, Findings& out) {
  if (!input.diagnosis.loader || input.diagnosis.wait_fraction >= 0.05) return;
  const DeviceActivity& device = input.loader().device;
  if (!device.kernels || device.window <= 0 || device.computing <= 0) return;
  const double idle = device.Share(device.idle.launch + device.idle.sync);
  if (idle < 0.15 || !CoresAreFull(input)) return;
  const CpuLoad& cpu = input.loader().cpu;
  const Pipeline& pipeline = input.loader().pipeline;
  const double step = 1 - input.diagnosis.wait_fraction;
  const Prediction most = input.WithScaled(Factor::kCompute, std::max(0.0, 1 - idle / step));
  int best = pipeline.workers;
  Prediction fewer;
  for (int workers = 1; workers < pipeline.workers && !cpu.crowded; ++workers) {
    const Prediction one = input.With(workers, pipeline.prefetch);
    if (one.speedup <= fewer.speedup * 1.01) continue;
    best = workers;
    fewer = one;
  }
  Finding finding;
  finding.id = "trainer-starved";
  finding.severity = Severity::kWarning;
  finding.title = fmt::format(
      "the GPU is idle {:.0f} % of the time although batches are ready, and the cores are full",
      100 * idle);
  finding.evidence = {{"idle_share", idle},
                      {"threshold", 0.15},
                      {"cpu_saturation", cpu.saturation()},
                      {"threshold_saturation", 0.8},
                      {"usable_cores", cpu.cores},
                      {"workers", static_cast<double>(pipeline.workers)},
                      {"kernel_share", device.Share(device.computing)}};
  finding.predicted = most;
  finding.predicted->rate.low =
      std::min(most.rate.low,
               best < pipeline.workers ? fewer.rate.low : input.loader().steady.rate.estimate);
  finding.action =
      cpu.crowded
          ? "Other programs use the cores: give this run cores of its own (taskset, a cgroup, a "
            "node of its own), or record again when the machine is quiet. "
          : fmt::format(
                "Leave the training process a core of its own: {}os.nice(10) in worker_init_fn. ",
                best < pipeline.workers ? fmt::format("num_workers={}, or ", best)
                                        : std::string("fewer workers, or "));
  finding.action += "The prediction is the most that can be had: a step without idle time.";
  PlaceInLoop(input, finding);
  out.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
