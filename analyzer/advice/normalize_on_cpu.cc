// SPDX-License-Identifier: Apache-2.0
//
// Workers turn pixels into floating point: four times the bytes to collate, hand over and copy.
// Threshold: 10 % of the fetches in such transforms (diagnosis.md R17, ours).
// Source: sleap-nn#406 (14.9 -> 1.0 ms), l5kit#222 (77.9 -> 49.9 ms a sample).
#include <fmt/core.h>
#include <algorithm>
#include <string_view>

#include "analyzer/advice/rules.h"

namespace penstock::analyzer {
namespace {

bool Converts(std::string_view transform) {
  for (const std::string_view name :
       {"Normalize", "normalize", "ToTensor", "ConvertImageDtype", "ToDtype", "ToFloat"}) {
    if (transform.find(name) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

void NormalizeOnCpu(const RuleInput& input, Findings& out) {
  if (!input.diagnosis.loader) return;
  const StageTotals& augment = input.diagnosis.run.stages[traces::StageId::kAugment];
  const double fetch = Seconds(input.diagnosis.run.stages[traces::StageId::kFetch].wall);
  double time = 0;
  std::string names;
  for (const auto& [name, part] : augment.children) {
    const std::string_view text = input.trace.String(name);
    if (!Converts(text)) continue;
    time += Seconds(part.wall);
    names += (names.empty() ? "" : ", ") + std::string(text);
  }
  const double share = fetch > 0 ? time / fetch : 0;
  if (share < 0.1) return;
  const double all = Seconds(augment.wall);
  Finding finding;
  finding.id = "normalize-on-cpu";
  finding.predicted =
      input.WithScaled(Factor::kAugment, all > 0 ? std::max(0.0, 1 - time / all) : 1);
  if (finding.predicted->speedup < 1.01) return;  // nothing waits for it
  finding.severity = finding.predicted->speedup >= 1.05 ? Severity::kWarning : Severity::kInfo;
  finding.title =
      fmt::format("converting to floating point takes {:.0f} % of the workers' time", 100 * share);
  finding.evidence = {{"share_of_fetch", share}, {"threshold", 0.1}, {"transforms", names}};
  finding.action =
      "Keep samples uint8 through collate and copy, and convert and normalise on the GPU.";
  out.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
