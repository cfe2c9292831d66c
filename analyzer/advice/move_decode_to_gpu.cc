// SPDX-License-Identifier: Apache-2.0
//
// The cores are full of decoding while the GPU waits. The GPU can decode.
//
// The rule reports nothing if the files are known not to be JPEG: the decoders that the finding
// names do not decode other files on the GPU.
// Threshold: decoding takes 40 % of the fetches (docs/diagnosis.md R15), and the conditions of R33
// in gpu_room.h hold.
// Source: docs/diagnosis.md R33; FastFlow against DALI (0.63 to 2.06x: it can also lose).
#include "analyzer/advice/gpu_room.h"
#include "analyzer/words/findings_gpu.h"
#include "analyzer/words/rule_needs.h"

namespace penstock::analyzer {

void MoveDecodeToGpu(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader || !input.loader().material.may_be_jpeg()) return;
  if (!input.HasGpu()) out.Needs("move-decode-to-gpu", Say<words::kRuleNeedsGpu>());
  if (input.ShareOfFetch(traces::StageId::kDecode) < 0.4) return;
  const auto move = MoveToGpu(input, traces::StageId::kDecode, Factor::kDecode);
  if (!move) return;
  Finding finding;
  finding.id = "move-decode-to-gpu";
  finding.seen = Say<words::kMoveDecode>(Give<"stage_share">(move->share));
  finding.action = Say<words::kDecodeOnGpu>(Give<"pays">(PaysWhile(input, *move)));
  Describe(input, *move, finding);
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
