// SPDX-License-Identifier: Apache-2.0
//
// The data is there when it is wanted: leave the loader alone.
//
// Threshold: the loop waits less than 5 % of its time (kineto, xprof), and the step is the
// bottleneck. The evidence says whether the GPU itself is busy. The rule kernel-launch-bound
// reports an idle GPU.
// Source: docs/diagnosis.md R2, R34.
#include "analyzer/advice/loop_transforms.h"
#include "analyzer/advice/place.h"
#include "analyzer/words/findings_gpu.h"

namespace penstock::analyzer {

void ComputeBound(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader || input.diagnosis.bottleneck != Factor::kCompute) return;
  const double wait = input.diagnosis.wait_fraction;
  if (wait >= 0.05) return;
  if (FindLoopTransforms(input)) return;  // the step does work that belongs to loading
  const DeviceActivity& device = input.loader().device;
  Finding finding;
  finding.id = "compute-bound";
  finding.severity = Severity::kInfo;
  std::optional<double> kernels;
  finding.evidence = {{"wait_fraction", wait},
                      {"threshold", 0.05},
                      {"speedup_if_data_free", input.diagnosis.headroom()}};
  if (device.kernels && device.window > 0) {
    const double busy = device.Share(device.computing);
    kernels = busy;
    finding.evidence.emplace_back("kernel_share", busy);
    finding.evidence.emplace_back("exposed_copy_share", device.Share(device.exposed));
  }
  finding.seen =
      Say<words::kComputeBound>(Give<"wait_fraction">(wait), Give<"kernel_share">(kernels));
  finding.action = Say<words::kLeaveDataPath>();
  PlaceInLoop(input, finding);
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
