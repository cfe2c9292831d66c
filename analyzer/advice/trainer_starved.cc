// SPDX-License-Identifier: Apache-2.0
//
// Batches are ready, and still the GPU is idle within the step, because the cores are full: the
// process that launches kernels gets no core when it needs one.
//
// Threshold: that of kernel-launch-bound, and 80 % of the usable cores are in use
// (docs/diagnosis.md R35) or other programs keep the run from its cores.
// Prediction: at most the gain of a step without idle time, because the trace does not tell how
// much of the step is waiting for a core. The low end of the interval is at most the rate with the
// best smaller number of workers, or at most the recorded rate if no smaller number is better.
// Source: docs/diagnosis.md R35; SPDL's noisy neighbour (its advice: at most 40 % of the cores).
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/advice/gpu_room.h"
#include "analyzer/advice/place.h"
#include "analyzer/words/findings_gpu.h"
#include "analyzer/words/rule_needs.h"

namespace penstock::analyzer {
namespace {

struct Fewer {
  int workers;  // the recorded number if no smaller one is better
  Prediction predicted;
};

// Tries smaller numbers of workers, each a quarter less than the one before. Takes a larger number
// only if it is one percent faster.
Fewer FewerWorkers(const RuleInput& input) {
  const Pipeline& pipeline = input.loader().pipeline;
  std::vector<int> tried;
  for (int workers = pipeline.workers - 1; workers >= 1;
       workers = std::min(workers - 1, workers * 3 / 4)) {
    tried.push_back(workers);
  }
  Fewer best{pipeline.workers, {}};
  for (auto workers = tried.rbegin(); workers != tried.rend(); ++workers) {
    Setting setting = input.Recorded();
    setting.workers = *workers;
    const Prediction one = input.WithSetting(setting);
    if (one.speedup > best.predicted.speedup * 1.01) best = {*workers, one};
  }
  return best;
}

}  // namespace

void TrainerStarved(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader) return;
  const DeviceActivity& device = input.loader().device;
  if (!input.HasKernels()) {
    out.Needs("trainer-starved", Say<words::kRuleNeedsKernels>());
  } else if (!device.called) {
    out.Needs("trainer-starved", Say<words::kRuleNeedsCalls>());
  }
  if (input.diagnosis.wait_fraction >= 0.05) return;
  if (!device.kernels || device.window <= 0 || device.computing <= 0) return;
  const double idle = device.Share(device.idle.launch + device.idle.sync);
  if (idle < 0.15 || !CoresAreFull(input)) return;
  const CpuLoad& cpu = input.loader().cpu;
  const Pipeline& pipeline = input.loader().pipeline;
  const double step = 1 - input.diagnosis.wait_fraction;
  const Prediction most = input.WithScaled(Factor::kCompute, std::max(0.0, 1 - idle / step));
  const Fewer fewer = cpu.crowded ? Fewer{pipeline.workers, {}} : FewerWorkers(input);
  Finding finding;
  finding.id = "trainer-starved";
  finding.severity = Severity::kWarning;
  finding.seen = Say<words::kTrainerStarved>(Give<"idle_share">(idle));
  finding.evidence = {{"idle_share", idle},
                      {"threshold", 0.15},
                      {"cpu_saturation", cpu.saturation()},
                      {"threshold_saturation", 0.8},
                      {"usable_cores", cpu.cores},
                      {"workers", static_cast<double>(pipeline.workers)},
                      {"kernel_share", device.Share(device.computing)}};
  finding.predicted = most;
  finding.predicted->at_most = true;
  finding.predicted->rate.low = std::min(most.rate.low, fewer.workers < pipeline.workers
                                                            ? fewer.predicted.rate.low
                                                            : input.loader().steady.rate.estimate);
  finding.action = Say<words::kCoreForTrainer>(
      Give<"predicted">(true), Give<"crowded">(cpu.crowded),
      Give<"launching">(pipeline.workers == 0),
      Give<"fewer">(fewer.workers < pipeline.workers ? std::optional(fewer.workers) : std::nullopt),
      Give<"nice">(!pipeline.sample_tasks));

  PlaceInLoop(input, finding);
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
