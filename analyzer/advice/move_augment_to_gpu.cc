// SPDX-License-Identifier: Apache-2.0
//
// The cores are full of transforms while the GPU waits: it can do them a batch at a time.
// Threshold: augment 25 % of the fetches (ours) and more than decode (docs/diagnosis.md R16: else
// moving the decoder is what helps), and all of R33: see gpu_room.h.
// Source: docs/diagnosis.md R16, R33; modern-yolonas#40; FusionFlow.
#include <fmt/core.h>

#include "analyzer/advice/gpu_room.h"

namespace penstock::analyzer {

void MoveAugmentToGpu(const RuleInput& input, Findings& out) {
  if (!input.diagnosis.loader) return;
  const double share = input.ShareOfFetch(traces::StageId::kAugment);
  if (share < 0.25 || share <= input.ShareOfFetch(traces::StageId::kDecode)) return;
  const auto move = MoveToGpu(input, traces::StageId::kAugment, Factor::kAugment);
  if (!move) return;
  std::string dearest;
  TimeNs most{};
  for (const auto& [name, part] : input.diagnosis.run.stages[traces::StageId::kAugment].children) {
    if (part.wall <= most) continue;
    most = part.wall;
    dearest = input.trace.String(name);
  }
  Finding finding;
  finding.id = "move-augment-to-gpu";
  finding.title = fmt::format(
      "transforms fill {:.0f} % of the workers' time and the cores are full", 100 * move->share);
  finding.action =
      "Collate what the decoder gives and transform the batch on the device: "
      "torchvision.transforms.v2 on CUDA tensors, or Kornia";
  finding.action += dearest.empty() ? "." : fmt::format("; {} first, it costs most.", dearest);
  Describe(input, *move, finding);
  out.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
