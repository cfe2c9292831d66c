// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "gui/model/penstock_command.h"
#include "gui/views/panel_parts.h"
#include "gui/views/panels/gpu_panels.h"

namespace penstock::gui {
void DrawGpuNothing(const Ui& ui, Workspace& workspace, const GpuModel& gpu, Area area) {
  const Palette& p = ui.palette();
  bool off = false;
  for (const auto& [key, value] : gpu.facts) off = off || (key == "record.gpu" && value == "off");
  const float width = BeginColumn(ui, area, 720, 0.08F);
  Paragraph(ui, ui.title, p.text, ui.T(Text::kGpuNothing), width);
  Paragraph(ui, ui.body, p.dim, ui.T(off ? Text::kGpuNothingOff : Text::kGpuNothingSeen), width);
  ImGui::Dummy({1, ui.Px(6)});
  Paragraph(ui, ui.strong, p.text, ui.T(Text::kGpuMissing), width);
  for (const Text missing : {Text::kGpuMissKernels, Text::kGpuMissCopies, Text::kGpuMissCounters}) {
    Paragraph(ui, ui.body, p.text, std::string("·  ") + ui.T(missing), width);
  }
  // The recording itself may say why.
  for (const auto& [key, value] : gpu.facts) {
    if (!key.starts_with("gpu.")) continue;
    Paragraph(ui, ui.small, p.dim, fmt::format("{}: {}", key, analyzer::PlainText(value, 200)),
              width);
  }
  const traces::Trace& trace = *workspace.document.trace;
  ImGui::Dummy({1, ui.Px(6)});
  Paragraph(ui, ui.strong, p.text, ui.T(Text::kGpuRecordThem), width);
  CodeBox(ui, workspace, PenstockCommand(trace, "record --gpu auto"), width);
  ImGui::Dummy({1, ui.Px(4)});
  Paragraph(ui, ui.strong, p.text, ui.T(Text::kGpuWhyNot), width);
  CodeBox(ui, workspace, PenstockCommand(trace, "doctor"), width);
  ImGui::EndGroup();
}

}  // namespace penstock::gui
