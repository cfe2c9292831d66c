// SPDX-License-Identifier: Apache-2.0
//
// Putting samples together takes a large part of making a batch.
// Threshold: 15 % of the fetches (docs/diagnosis.md R18, ours). Source: pytorch#22789, #123439.
// If a function of the program takes half of the time in collating (ours), the finding names it. If
// it does not put tensors or arrays together for most of its time, it is what is to become faster.
#include <algorithm>
#include <string>

#include "analyzer/advice/function_costs.h"
#include "analyzer/words/findings_data.h"

namespace penstock::analyzer {
namespace {

constexpr double kHalf = 0.5;

// The function of the program that takes at least half of the time in collating, or null.
const FunctionTime* MostOfCollating(const FunctionProfiles& profiles) {
  for (const FunctionProfile& profile : profiles) {
    if (profile.stage != traces::StageId::kCollate || !Tells(profile)) continue;
    const auto found =
        std::find_if(profile.functions.begin(), profile.functions.end(),
                     [](const FunctionTime& one) { return !one.is_library && one.share >= kHalf; });
    if (found != profile.functions.end()) return &*found;
  }
  return nullptr;
}

// Whether a function spends most of its time in PyTorch or NumPy: it puts tensors together.
bool PutsTogether(const FunctionTime& function) {
  double share = 0;
  for (const CalledTime& called : function.called) {
    const bool ours = called.name.starts_with("torch.") || called.name.starts_with("numpy.") ||
                      called.file.find("/torch/") != std::string::npos;
    if (ours) share += called.share;
  }
  return share >= kHalf * function.share;
}

}  // namespace

void CollateSlow(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader) return;
  const double share = input.ShareOfFetch(traces::StageId::kCollate);
  if (share < 0.15) return;
  Finding finding;
  finding.id = "collate-slow";
  finding.predicted = input.Without(Factor::kCollate);
  if (finding.predicted->speedup < 1.01) return;  // nothing waits for collate
  finding.severity = finding.predicted->speedup >= 1.05 ? Severity::kWarning : Severity::kInfo;
  const FunctionTime* const most = MostOfCollating(input.diagnosis.functions);
  finding.seen = Say<words::kCollateSlow>(
      Give<"collate_share">(share), GiveIf<"function">(most != nullptr, most ? most->name : ""),
      GiveIf<"place">(most != nullptr, most ? PlaceOf(most->file, most->line) : ""));
  finding.evidence = {
      {"collate_share", share},
      {"threshold", 0.15},
      {"collate_p50_s",
       input.diagnosis.run.stages[traces::StageId::kCollate].durations.Quantile(0.5)}};
  const bool itself = most != nullptr && !PutsTogether(*most);
  finding.action = Say<words::kSimplerCollate>(
      Give<"predicted">(true), GiveIf<"function">(itself, itself ? most->name : ""));
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
