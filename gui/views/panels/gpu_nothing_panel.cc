// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "gui/model/penstock_command.h"
#include "gui/views/panel_parts.h"
#include "gui/views/panels/gpu_panels.h"

namespace penstock::gui {
namespace {

Text AbsenceWords(GpuAbsence why) {
  switch (why) {
    case GpuAbsence::kOff:
      return Text::kGpuNothingOff;
    case GpuAbsence::kNoDriver:
      return Text::kGpuNoDriver;
    case GpuAbsence::kUnseen:
      break;
  }
  return Text::kGpuNothingSeen;
}

}  // namespace

void DrawGpuNothing(const Ui& ui, Workspace& workspace, const GpuModel& gpu, Area area) {
  const Palette& p = ui.palette();
  const GpuAbsence why = WhyNoGpu(gpu);
  const float width = BeginColumn(ui, area, 720, 0.08F);
  Paragraph(ui, ui.title, p.text, ui.T(Text::kGpuNothing), width);
  Paragraph(ui, ui.body, p.dim, ui.T(AbsenceWords(why)), width);
  // The recording itself may say more.
  for (const auto& [key, value] : gpu.facts) {
    if (!key.starts_with("gpu.") || (key == "gpu.nvml" && why == GpuAbsence::kNoDriver)) continue;
    Paragraph(ui, ui.small, p.dim, fmt::format("{}: {}", key, analyzer::PlainText(value, 200)),
              width);
  }
  ImGui::Dummy({1, ui.Px(6)});
  Paragraph(ui, ui.strong, p.text, ui.T(Text::kGpuMissing), width);
  for (const Text missing : {Text::kGpuMissKernels, Text::kGpuMissCopies, Text::kGpuMissCounters}) {
    Paragraph(ui, ui.body, p.text, std::string("·  ") + ui.T(missing), width);
  }
  const traces::Trace& trace = *workspace.document.trace;
  ImGui::Dummy({1, ui.Px(6)});
  // GPUs are recorded unless they were left out, so only then another option helps.
  if (why == GpuAbsence::kOff) {
    Paragraph(ui, ui.strong, p.text, ui.T(Text::kGpuRecordThem), width);
    CodeBox(ui, workspace, PenstockCommand(trace, "record --gpu auto"), width);
    ImGui::Dummy({1, ui.Px(4)});
  }
  Paragraph(ui, ui.strong, p.text, ui.T(Text::kGpuWhyNot), width);
  CodeBox(ui, workspace, PenstockCommand(trace, "doctor"), width);
  ImGui::EndGroup();
}

}  // namespace penstock::gui
