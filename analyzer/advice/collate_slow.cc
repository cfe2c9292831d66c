// SPDX-License-Identifier: Apache-2.0
//
// Putting samples together takes a large part of making a batch.
// Threshold: 15 % of the fetches (docs/diagnosis.md R18, ours). Source: pytorch#22789, #123439.
#include "analyzer/advice/rules.h"
#include "analyzer/words/findings_data.h"

namespace penstock::analyzer {

void CollateSlow(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader) return;
  const double share = input.ShareOfFetch(traces::StageId::kCollate);
  if (share < 0.15) return;
  Finding finding;
  finding.id = "collate-slow";
  finding.predicted = input.Without(Factor::kCollate);
  if (finding.predicted->speedup < 1.01) return;  // nothing waits for collate
  finding.severity = finding.predicted->speedup >= 1.05 ? Severity::kWarning : Severity::kInfo;
  finding.seen = Say<words::kCollateSlow>(Give<"collate_share">(share));
  finding.evidence = {
      {"collate_share", share},
      {"threshold", 0.15},
      {"collate_p50_s",
       input.diagnosis.run.stages[traces::StageId::kCollate].durations.Quantile(0.5)}};
  finding.action = Say<words::kSimplerCollate>(Give<"predicted">(true));
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
