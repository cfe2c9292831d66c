// SPDX-License-Identifier: Apache-2.0
//
// Batches are copied to the device from memory that is not pinned: the driver stages them and the
// loop stands still.
// Threshold: such copies take 3 % of the loop (diagnosis.md R31). A copy is known as one by the
// word "pageable" in its name, or because the loader does not pin and the program was not seen to.
// Source: diagnosis.md R31; CUDA's API synchronisation rules; nsys' cuda_memcpy_async.
#include <fmt/core.h>

#include "analyzer/advice/rules.h"

namespace penstock::analyzer {

void PageableCopies(const RuleInput& input, Findings& out) {
  if (!input.diagnosis.loader) return;
  const StageTable& stages = input.diagnosis.run.stages;
  const StageTotals& h2d = stages[traces::StageId::kH2d];
  if (h2d.count == 0) return;
  double known = 0;
  bool named = false;
  for (const auto& [name, part] : h2d.children) {
    const std::string_view text = input.trace.String(name);
    const bool pageable = text.find("pageable") != std::string_view::npos;
    named = named || pageable || text.find("pinned") != std::string_view::npos;
    if (pageable) known += Seconds(part.wall);
  }
  const LoaderRun& run = input.run();
  if (!named &&
      (run.config.pin_memory || run.inferred || stages[traces::StageId::kPin].count > 0)) {
    return;
  }
  double copying = 0;
  double loop = 0;
  for (const Batch& batch : run.batches) {
    copying += batch.h2d;
    loop += batch.wait() + batch.step();
  }
  if (named) copying = known;
  const double share = loop > 0 ? copying / loop : 0;
  if (share < 0.03) return;
  Setting setting = input.Recorded();
  setting.pin = true;
  setting.scale = {{Factor::kH2d, 0.0}};
  Finding finding;
  finding.predicted = input.WithSetting(setting);
  finding.id = "pageable-copies";
  finding.severity = finding.predicted->speedup >= 1.05 ? Severity::kWarning : Severity::kInfo;
  finding.title = fmt::format("copies from pageable memory take {:.0f} % of the loop", 100 * share);
  finding.evidence = {{"copy_share", share},
                      {"threshold", 0.03},
                      {"copy_p50_s", h2d.durations.Quantile(0.5)},
                      {"kind", std::string(named ? "recorded" : "the loader does not pin")},
                      {"ram_bytes", static_cast<double>(finding.predicted->ram)}};
  finding.action =
      "Set pin_memory=True and copy with .to(device, non_blocking=True). Pinned batches cannot be "
      "swapped out. The prediction is for copies that the loop does not wait for.";
  out.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
