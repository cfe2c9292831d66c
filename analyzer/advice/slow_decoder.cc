// SPDX-License-Identifier: Apache-2.0
//
// Pillow decodes most of the images, and decoding is most of the workers' time.
// Threshold: decode 40 % of the fetches (docs/diagnosis.md R15, ours), 80 % of it under Pillow.
// Source: ternaus/imread_benchmark (MIT), five CPUs: simplejpeg and OpenCV are 1.2 to 1.3 times as
// fast as Pillow with one process; 1.2 is predicted. rf-detr#1473: a trip back through PIL eats the
// gain.
#include "analyzer/advice/pillow.h"
#include "analyzer/words/findings_data.h"

namespace penstock::analyzer {

void SlowDecoder(const RuleInput& input, Advice& out) {
  constexpr double kFaster = 1.2;
  if (!input.diagnosis.loader) return;
  const double share = input.ShareOfFetch(traces::StageId::kDecode);
  const double of_decode = PillowShareOfDecode(input);
  if (share < 0.4 || of_decode < 0.8) return;
  Finding finding;
  finding.predicted = input.WithScaled(Factor::kDecode, 1 / kFaster);
  if (finding.predicted->speedup < 1.05) return;
  finding.id = "slow-decoder";
  finding.severity = Severity::kWarning;
  finding.seen = Say<words::kSlowDecoder>(Give<"decode_share">(share));
  finding.evidence = {{"decode_share", share},
                      {"threshold", 0.4},
                      {"pillow_share_of_decode", of_decode},
                      {"assumed_ratio", kFaster}};
  finding.action = Say<words::kFasterDecoder>();
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
