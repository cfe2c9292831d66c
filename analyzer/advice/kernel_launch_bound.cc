// SPDX-License-Identifier: Apache-2.0
//
// The data is there, and still the GPU is idle within the step: the training loop does not launch
// kernels fast enough, or repeatedly waits for the device before it launches more.
//
// Threshold: for 15 % of the steady part no kernel and no copy runs while the loop launches or
// synchronises (xprof calls 15 % of kernel launch severe), and the loop waits less than 5 % of its
// time. The sum of the gaps counts, because single gaps stay below the 500 ms that nsys asks for.
// If the cores are full, the finding is trainer-starved.
// Prediction: a step without that idle time.
// Source: docs/diagnosis.md R35; xprof.
#include <algorithm>

#include "analyzer/advice/gpu_room.h"
#include "analyzer/advice/place.h"
#include "analyzer/words/findings_gpu.h"
#include "analyzer/words/rule_needs.h"

namespace penstock::analyzer {

void KernelLaunchBound(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader) return;
  const DeviceActivity& device = input.loader().device;
  if (!input.HasKernels()) {
    out.Needs("kernel-launch-bound", Say<words::kRuleNeedsKernels>());
  } else if (!device.called) {
    out.Needs("kernel-launch-bound", Say<words::kRuleNeedsCalls>());
  }
  if (input.diagnosis.wait_fraction >= 0.05) return;
  if (!device.kernels || device.window <= 0 || device.computing <= 0) return;
  const double idle = device.Share(device.idle.launch + device.idle.sync);
  if (idle < 0.15 || CoresAreFull(input)) return;
  Finding finding;
  finding.id = "kernel-launch-bound";
  finding.severity = Severity::kWarning;
  finding.seen = Say<words::kKernelLaunchBound>(Give<"idle_share">(idle));
  const auto batches = static_cast<double>(std::max<std::size_t>(1, device.batches));
  double kernels = 0;
  for (const DeviceShare& one : device.devices) kernels += static_cast<double>(one.kernels);
  finding.evidence = {
      {"idle_share", idle},
      {"threshold", 0.15},
      {"idle_launch_share", device.Share(device.idle.launch)},
      {"idle_sync_share", device.Share(device.idle.sync)},
      {"kernel_share", device.Share(device.computing)},
      {"kernels_per_batch",
       kernels / static_cast<double>(std::max<std::size_t>(1, input.run().batches.size()))},
      {"launching_s_per_batch", device.loop.rest / batches},
      {"wait_fraction", input.diagnosis.wait_fraction},
      {"cpu_saturation", input.loader().cpu.known ? input.loader().cpu.saturation() : 0}};
  finding.action = Say<words::kLaunchLess>(Give<"sync">(device.idle.sync > device.idle.launch),
                                           Give<"predicted">(true));
  const double step = 1 - input.diagnosis.wait_fraction;
  finding.predicted = input.WithScaled(Factor::kCompute, std::max(0.0, 1 - idle / step));
  PlaceInLoop(input, finding);
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
