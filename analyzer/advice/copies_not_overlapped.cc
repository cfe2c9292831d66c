// SPDX-License-Identifier: Apache-2.0
//
// The device copies while it computes nothing, and computes nothing while it copies.
// Threshold: less than half of the copying lies beside kernels, copies last 100 us on average
// (diagnosis.md R32, RatelProf's hidden_transfers), and the rest is 3 % of the run (as R31).
// Source: diagnosis.md R32; torchrec#3485; timm#2548 (1 to 10 %).
#include <fmt/core.h>

#include "analyzer/advice/rules.h"
#include "analyzer/model/device_activity.h"

namespace penstock::analyzer {

void CopiesNotOverlapped(const RuleInput& input, Findings& out) {
  if (!input.diagnosis.loader) return;
  const StageTable& stages = input.diagnosis.run.stages;
  const StageTotals& h2d = stages[traces::StageId::kH2d];
  if (h2d.count == 0 || stages[traces::StageId::kKernel].count == 0) return;
  if (Seconds(h2d.wall) / static_cast<double>(h2d.count) < 100e-6) return;
  const SteadyState& steady = input.loader().steady;
  const DeviceActivity activity = MeasureDevice(input.trace, steady.from, steady.to);
  if (activity.copying <= 0 || activity.window <= 0) return;
  const double hidden = activity.hidden / activity.copying;
  const double open = (activity.copying - activity.hidden) / activity.window;
  if (hidden >= 0.5 || open < 0.03) return;
  Finding finding;
  finding.id = "copies-not-overlapped";
  finding.severity = open >= 0.1 ? Severity::kWarning : Severity::kInfo;
  finding.title = fmt::format(
      "{:.0f} % of the time the GPU only copies; {:.0f} % of the copying lies beside kernels",
      100 * open, 100 * hidden);
  finding.evidence = {{"hidden_fraction", hidden},
                      {"threshold", 0.5},
                      {"open_share", open},
                      {"copying_s", activity.copying}};
  finding.action =
      "Copy the next batch on a side stream while the current one is computed: pin_memory=True, "
      ".to(device, non_blocking=True) under torch.cuda.stream(side), and wait_stream before use.";
  finding.from = static_cast<double>(steady.from - input.trace.begin().value) * 1e-9;
  finding.to = static_cast<double>(steady.to - input.trace.begin().value) * 1e-9;
  // What the simulator knows of copies is the time they block the loop.
  if (stages[traces::StageId::kStep].count > 0) {
    double blocked = 0;
    for (const Batch& batch : input.run().batches) blocked += batch.h2d;
    if (blocked > 0) finding.predicted = input.Without(Factor::kH2d);
  }
  out.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
