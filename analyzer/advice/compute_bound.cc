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
namespace {

// The share of NCCL's kernels in the time of all kernels. They exchange data with other GPUs, and
// run while they wait for these. Source: nccl/src/device: ncclDevKernel_AllReduce_..., before 2.19
// ncclKernel_AllReduce_...
double ShareOfNccl(const RuleInput& input) {
  double nccl = 0;
  double all = 0;
  for (const KernelTime& kernel : input.diagnosis.run.device.kernel_times) {
    all += kernel.time;
    if (input.trace.String(kernel.name).find("nccl") != std::string_view::npos) nccl += kernel.time;
  }
  return all > 0 ? nccl / all : 0;
}

}  // namespace

void ComputeBound(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader || input.diagnosis.bottleneck != Factor::kCompute) return;
  const double wait = input.diagnosis.wait_fraction;
  if (wait >= 0.05 || input.loader().steady.batches == 0) return;  // 0: the wait is not known
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
  constexpr double kWorthSaying = 0.05;
  const double nccl = ShareOfNccl(input);
  if (kernels && nccl > 0) finding.evidence.emplace_back("nccl_share_of_kernels", nccl);
  finding.seen =
      Say<words::kComputeBound>(Give<"wait_fraction">(wait), Give<"kernel_share">(kernels),
                                GiveIf<"nccl_share">(kernels && nccl >= kWorthSaying, nccl));
  const SteadyState& steady = input.loader().steady;
  finding.action = Say<words::kLeaveDataPath>(GiveIf<"few">(!steady.steady, steady.batches));
  PlaceInLoop(input, finding);
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
