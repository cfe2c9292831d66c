// SPDX-License-Identifier: Apache-2.0
//
// The cores are full of transforms while the GPU waits. The GPU can do them for a whole batch at
// once.
//
// Threshold: augmenting takes 25 % of the fetches (ours) and more than decoding, and the conditions
// of R33 in gpu_room.h hold. If decoding takes more, it is better to move decoding (R16).
// Source: docs/diagnosis.md R16, R33; modern-yolonas#40; FusionFlow.
#include "analyzer/advice/gpu_room.h"
#include "analyzer/words/findings_gpu.h"
#include "analyzer/words/rule_needs.h"

namespace penstock::analyzer {

void MoveAugmentToGpu(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader) return;
  if (!input.HasGpu()) out.Needs("move-augment-to-gpu", Say<words::kRuleNeedsGpu>());
  const double share = input.ShareOfFetch(traces::StageId::kAugment);
  if (share < 0.25 || share <= input.ShareOfFetch(traces::StageId::kDecode)) return;
  const auto move = MoveToGpu(input, traces::StageId::kAugment, Factor::kAugment);
  if (!move) return;
  std::string most_expensive;
  TimeNs longest{};
  for (const auto& [name, part] : input.diagnosis.run.stages[traces::StageId::kAugment].children) {
    if (part.wall <= longest) continue;
    longest = part.wall;
    most_expensive = input.trace.String(name);
  }
  Finding finding;
  finding.id = "move-augment-to-gpu";
  finding.seen = Say<words::kMoveAugment>(Give<"stage_share">(move->share));
  finding.action = Say<words::kAugmentOnGpu>(
      Give<"dearest">(most_expensive.empty() ? std::nullopt : std::optional(most_expensive)),
      Give<"pays">(PaysWhile(input, *move)));
  Describe(input, *move, finding);
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
