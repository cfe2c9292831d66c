// SPDX-License-Identifier: Apache-2.0
//
// The GPU is the bottleneck and also decodes or augments pictures, while the cores are idle. That
// work can go back to the CPU.
//
// Threshold: the loop waits less than 5 % of the time, kernels run 90 % of the time, kernels that
// decode or augment take 10 % of the time of all kernels, and less than half of the cores are in
// use (docs/diagnosis.md R34). Such kernels are known by the names that nvJPEG, DALI, NPP, CV-CUDA
// and Penstock give them. The framework's own resize kernels do not count: they may belong to the
// model.
// Prediction: steps without the time of these kernels. This is an upper bound, because the time
// that the cores need instead is not known. The low end of the interval is therefore at most the
// recorded rate.
// Source: docs/diagnosis.md R34; ffcv's bottleneck doctor ("offload compute to the CPU").
#include <algorithm>
#include <array>
#include <string_view>

#include "analyzer/advice/place.h"
#include "analyzer/words/findings_gpu.h"
#include "analyzer/words/rule_needs.h"

namespace penstock::analyzer {
namespace {

constexpr std::array<std::string_view, 14> kNames = {
    "nvjpeg", "jpeg",   "huffman",  "idct",        "ycbcr",      "ycc",        "dali",
    "nppi",   "cvcuda", "penstock", "crop_mirror", "CropMirror", "warpAffine", "ColorTwist"};

bool Prepares(std::string_view kernel) {
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view name) {
    return kernel.find(name) != std::string_view::npos;
  });
}

}  // namespace

void PreprocessingOnBusyGpu(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader) return;
  if (!input.HasKernels()) out.Needs("preprocessing-on-busy-gpu", Say<words::kRuleNeedsKernels>());
  if (input.diagnosis.wait_fraction >= 0.05) return;
  const DeviceActivity& device = input.loader().device;
  const CpuLoad& cpu = input.loader().cpu;
  if (!device.kernels || !cpu.known || cpu.crowded || cpu.saturation() >= 0.5) return;
  const double busy = device.Share(device.computing);
  if (busy < 0.9) return;
  double all = 0;
  double preparing = 0;
  std::string most_expensive;
  for (const KernelTime& kernel : input.diagnosis.run.device.kernel_times) {
    all += kernel.time;
    const std::string_view text = input.trace.String(kernel.name);
    if (!Prepares(text)) continue;
    preparing += kernel.time;
    if (most_expensive.empty()) most_expensive = text;  // the most expensive kernel comes first
  }
  const double share = all > 0 ? preparing / all : 0;
  if (share < 0.1) return;
  Finding finding;
  finding.id = "preprocessing-on-busy-gpu";
  finding.severity = Severity::kWarning;
  finding.seen = Say<words::kPreprocessingOnBusyGpu>(Give<"kernel_share">(busy),
                                                     Give<"preparing_share">(share),
                                                     Give<"cpu_saturation">(cpu.saturation()));
  finding.evidence = {{"kernel_share", busy},
                      {"threshold_kernel_share", 0.9},
                      {"preparing_share", share},
                      {"threshold", 0.1},
                      {"cpu_saturation", cpu.saturation()},
                      {"threshold_saturation", 0.5},
                      {"dearest_kernel", most_expensive}};
  finding.predicted = input.WithScaled(Factor::kCompute, std::max(0.0, 1 - share * busy));
  finding.predicted->at_most = true;
  finding.predicted->rate.low =
      std::min(finding.predicted->rate.low, input.loader().steady.rate.estimate);
  finding.action = Say<words::kPreprocessOnCpu>(Give<"predicted">(true));
  PlaceInLoop(input, finding);
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
