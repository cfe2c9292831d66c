// SPDX-License-Identifier: Apache-2.0
//
// The device copies while it computes nothing, and computes nothing while it copies.
//
// Threshold: less than half of the copy time overlaps with kernels, a copy lasts at least 100 us on
// average (docs/diagnosis.md R32, RatelProf's hidden_transfers), and copies take 3 % of the steady
// part during which no kernel runs (as R31).
// Prediction: steps without the time of these copies.
// Source: docs/diagnosis.md R32; torchrec#3485; timm#2548 (1 to 10 %).
#include "analyzer/advice/place.h"
#include "analyzer/words/findings_gpu.h"
#include "analyzer/words/rule_needs.h"

namespace penstock::analyzer {

void CopiesNotOverlapped(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader) return;
  if (!input.HasKernels()) out.Needs("copies-not-overlapped", Say<words::kRuleNeedsKernels>());
  const DeviceActivity& device = input.loader().device;
  if (!device.kernels || device.window <= 0) return;
  double count = 0;
  double transfer = 0;
  double overlapped = 0;
  for (const CopyTotals& copies : device.copies) {
    count += static_cast<double>(copies.count);
    transfer += copies.transfer;
    overlapped += copies.overlapped;
  }
  if (count == 0 || transfer / count < 100e-6) return;
  const double hidden = overlapped / transfer;
  const double open = device.Share(device.exposed);
  if (hidden >= 0.5 || open < 0.03) return;
  Finding finding;
  finding.id = "copies-not-overlapped";
  finding.predicted = input.Without(Factor::kH2d);
  finding.severity = finding.predicted->speedup >= 1.05 ? Severity::kWarning : Severity::kInfo;
  finding.seen =
      Say<words::kCopiesNotOverlapped>(Give<"open_share">(open), Give<"hidden_fraction">(hidden));
  finding.evidence = {
      {"hidden_fraction", hidden},
      {"threshold", 0.5},
      {"open_share", open},
      {"threshold_open", 0.03},
      {"copying_s", transfer},
      {"copies", count},
      {"s_per_copy", transfer / count},
      {"seen", English(Say<words::kCopiesSeen>(Give<"on_device">(device.on_device)))}};
  finding.action = Say<words::kOverlapCopies>();
  PlaceInLoop(input, finding);
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
