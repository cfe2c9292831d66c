// SPDX-License-Identifier: Apache-2.0
//
// The cores are full of decoding while the GPU waits: it can decode.
// Threshold: decode 40 % of the fetches (docs/diagnosis.md R15) and all of R33: see gpu_room.h.
// Source: docs/diagnosis.md R33; FastFlow against DALI (0.63 to 2.06x: it can also lose).
#include <fmt/core.h>

#include "analyzer/advice/gpu_room.h"

namespace penstock::analyzer {

void MoveDecodeToGpu(const RuleInput& input, Findings& out) {
  if (!input.diagnosis.loader || input.ShareOfFetch(traces::StageId::kDecode) < 0.4) return;
  const auto move = MoveToGpu(input, traces::StageId::kDecode, Factor::kDecode);
  if (!move) return;
  Finding finding;
  finding.id = "move-decode-to-gpu";
  finding.title = fmt::format("decoding fills {:.0f} % of the workers' time and the cores are full",
                              100 * move->share);
  finding.action =
      "Send the compressed bytes and decode there: torchvision.io.decode_jpeg(bytes, "
      "device='cuda'), nvImageCodec or DALI's decoders.image(device='mixed').";
  Describe(input, *move, finding);
  out.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
