// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/core.h>

#include "analyzer/report/format.h"
#include "gui/views/gpu_panels.h"

namespace penstock::gui {
namespace {

// A command with a button that copies it. Advances the cursor.
void DrawCommand(const Ui& ui, Workspace& workspace, const std::string& command, float width) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const bool copied = workspace.copied == command && ImGui::GetTime() - workspace.copied_at < 2;
  const char* word = ui.T(copied ? Text::kCopied : Text::kCopy);
  const float button = TextWidth(ui.body, word) + ui.Px(22);
  const auto lines = WrapText(ui.mono, command, width - button - ui.Px(28));
  const float pitch = ui.mono->FontSize + ui.Px(3);
  const float height = pitch * static_cast<float>(lines.size()) + ui.Px(15);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  list->AddRectFilled(at, {at.x + width, at.y + height}, Ink(p.raised), ui.Px(6));
  float y = at.y + ui.Px(9);
  for (const std::string& line : lines) {
    DrawText(list, ui.mono, {at.x + ui.Px(10), y}, Ink(p.text), line);
    y += pitch;
  }
  ImGui::SetCursorScreenPos({at.x + width - button - ui.Px(4), at.y + ui.Px(4)});
  ImGui::PushID(command.c_str());
  if (ImGui::Button(word)) workspace.CopyText(command);
  ImGui::PopID();
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({width, height});
}

}  // namespace

void DrawGpuNothing(const Ui& ui, Workspace& workspace, const GpuModel& gpu, Area area) {
  const Palette& p = ui.palette();
  bool off = false;
  for (const auto& [key, value] : gpu.facts) off = off || (key == "record.gpu" && value == "off");
  const float width = std::min(area.width(), ui.Px(720));
  ImGui::SetCursorScreenPos(
      {area.min.x + (area.width() - width) / 2, area.min.y + area.height() * 0.08F});
  ImGui::BeginGroup();
  Paragraph(ui, ui.title, p.text, ui.T(Text::kGpuNothing), width);
  Paragraph(ui, ui.body, p.dim, ui.T(off ? Text::kGpuNothingOff : Text::kGpuNothingSeen), width);
  ImGui::Dummy({1, ui.Px(6)});
  Paragraph(ui, ui.strong, p.text, ui.T(Text::kGpuMissing), width);
  for (const Text missing : {Text::kGpuMissKernels, Text::kGpuMissCopies, Text::kGpuMissCounters}) {
    Paragraph(ui, ui.body, p.text, std::string("·  ") + ui.T(missing), width);
  }
  // What the recording itself says of why.
  for (const auto& [key, value] : gpu.facts) {
    if (!key.starts_with("gpu.")) continue;
    Paragraph(ui, ui.small, p.dim, fmt::format("{}: {}", key, analyzer::PlainText(value, 200)),
              width);
  }
  const traces::Trace& trace = *workspace.document.trace;
  ImGui::Dummy({1, ui.Px(6)});
  Paragraph(ui, ui.strong, p.text, ui.T(Text::kGpuRecordThem), width);
  DrawCommand(ui, workspace, PenstockCommand(trace, "record --gpu auto"), width);
  ImGui::Dummy({1, ui.Px(4)});
  Paragraph(ui, ui.strong, p.text, ui.T(Text::kGpuWhyNot), width);
  DrawCommand(ui, workspace, PenstockCommand(trace, "doctor"), width);
  ImGui::EndGroup();
}

}  // namespace penstock::gui
