// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/core.h>

#include "analyzer/report/format.h"
#include "gui/model/ticks.h"
#include "gui/views/gpu_panels.h"
#include "gui/views/panel_parts.h"

namespace penstock::gui {
namespace {

using analyzer::BytesText;
using analyzer::DurationText;

constexpr ImGuiTableFlags kFlags =
    ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchProp;

Text KindName(CopyRow::Kind kind) {
  return kind == CopyRow::Kind::kPageable  ? Text::kGpuPageable
         : kind == CopyRow::Kind::kPinned  ? Text::kGpuPinned
         : kind == CopyRow::Kind::kManaged ? Text::kGpuManaged
                                           : Text::kGpuUnknownKind;
}

// The first cell: a name that can be clicked.
void NameCell(const Ui& ui, const std::string& name, int id, const Call& call,
              std::optional<Call>* chosen) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::PushID(id);
  if (ImGui::Selectable("##row", false, ImGuiSelectableFlags_SpanAllColumns)) *chosen = call;
  ImGui::PopID();
  if (ImGui::IsItemHovered()) Tip(ui, name + "\n" + ui.T(Text::kStageGoTip));
  DrawText(ImGui::GetWindowDrawList(), ui.body, at, Ink(ui.palette().text),
           Elided(ui.body, name, width));
}

void RightCell(const Ui& ui, const std::string& text) {
  ImGui::TableNextColumn();
  CellRight(ui, text, text == "–");
}

void DrawHeads(const Ui& ui, Text first, std::initializer_list<Text> others) {
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  ImGui::TableNextColumn();
  ImGui::TableHeader(ui.T(first));
  for (const Text title : others) {
    ImGui::TableNextColumn();
    HeadRight(ui, ui.T(title), "");
  }
}

void DrawCopies(const Ui& ui, const GpuModel& gpu, Area area, std::optional<Call>* chosen) {
  BeginArea("copies", area, false);
  if (ImGui::BeginTable("table", 5, kFlags)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableSetupColumn(ui.T(Text::kGpuKind), 0, 2.2F);
    for (const Text title : {Text::kCount, Text::kSpanBytes, Text::kTime, Text::kGpuColumnSpeed}) {
      ImGui::TableSetupColumn(ui.T(title), 0, 1);
    }
    DrawHeads(ui, Text::kGpuKind,
              {Text::kCount, Text::kSpanBytes, Text::kTime, Text::kGpuColumnSpeed});
    for (const CopyRow& row : gpu.copy_rows) {
      NameCell(ui, ui.T(KindName(row.kind)), static_cast<int>(row.kind), row.longest, chosen);
      RightCell(ui, CountText(static_cast<double>(row.count)));
      RightCell(ui, BytesText(row.bytes));
      RightCell(ui, DurationText(row.wall));
      const double rate = row.wall > 0 ? static_cast<double>(row.bytes) / row.wall : 0;
      RightCell(ui, rate > 0 ? BytesText(static_cast<std::uint64_t>(rate)) + "/s" : "–");
    }
    ImGui::EndTable();
  }
  EndArea();
}

void DrawKernels(const Ui& ui, const Workspace& workspace, const GpuModel& gpu, Area area,
                 std::optional<Call>* chosen) {
  BeginArea("kernels", area, false);
  if (ImGui::BeginTable("table", 4, kFlags)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableSetupColumn(ui.T(Text::kGpuKernels), 0, 3.2F);
    for (const Text title : {Text::kCount, Text::kTime, Text::kMean}) {
      ImGui::TableSetupColumn(ui.T(title), 0, 1);
    }
    DrawHeads(ui, Text::kGpuKernels, {Text::kCount, Text::kTime, Text::kMean});
    for (const KernelRow& row : gpu.kernel_rows) {
      std::string name =
          analyzer::PlainText(workspace.gpu.model.key().trace->String(row.name), 400);
      if (name.empty()) name = ui.T(Text::kGpuKernel);
      NameCell(ui, name, static_cast<int>(row.name.value), row.longest, chosen);
      RightCell(ui, CountText(static_cast<double>(row.count)));
      RightCell(ui, DurationText(row.wall));
      RightCell(ui, DurationText(row.wall / static_cast<double>(row.count)));
    }
    ImGui::EndTable();
  }
  EndArea();
}

}  // namespace

void DrawGpuTables(const Ui& ui, Workspace& workspace, const GpuModel& gpu, Area area) {
  const Palette& p = ui.palette();
  Area inside = Headed(ui, Panel(ui, area), ui.T(Text::kGpuCopyKinds));
  std::optional<Call> chosen;
  if (gpu.copy_rows.empty()) {
    DrawText(ImGui::GetWindowDrawList(), ui.body, inside.min, Ink(p.dim),
             Elided(ui.body, ui.T(Text::kGpuNoCopies), inside.width()));
    inside.min.y += ui.body->FontSize + ui.Px(12);
  } else {
    const float height = ui.Px(25) * static_cast<float>(gpu.copy_rows.size() + 1);
    DrawCopies(ui, gpu, {inside.min, {inside.max.x, inside.min.y + height}}, &chosen);
    inside.min.y += height + ui.Px(8);
  }
  if (!gpu.kernel_rows.empty() && inside.height() > ui.Px(40)) {
    DrawKernels(ui, workspace, gpu, inside, &chosen);
  }
  if (chosen) workspace.ShowCall(*chosen);
}

}  // namespace penstock::gui
