// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <span>

#include "analyzer/words/format.h"
#include "gui/model/timeline/ticks.h"
#include "gui/views/panel_parts.h"
#include "gui/views/panels/gpu_panels.h"

namespace penstock::gui {
namespace {

using analyzer::BytesText;
using analyzer::DurationText;

constexpr ImGuiTableFlags kFlags =
    ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchProp;

Text WayName(CopyWay way) {
  switch (way) {
    case CopyWay::kToDevice:
      return Text::kGpuToDevice;
    case CopyWay::kFromDevice:
      return Text::kGpuFromDevice;
    case CopyWay::kOnDevice:
      return Text::kGpuOnDevice;
    case CopyWay::kPeer:
      return Text::kGpuPeer;
    case CopyWay::kSet:
      return Text::kGpuSet;
    case CopyWay::kOther:
      break;
  }
  return Text::kGpuOtherCopy;
}

float TableHeight(const Ui& ui, std::size_t rows) {
  return ui.Px(25) * static_cast<float>(rows + 1);
}

// The part of `height` that whole rows of a table take.
float WholeRows(float height) {
  const float row = ImGui::GetTextLineHeight() + 2 * ImGui::GetStyle().CellPadding.y;
  return std::floor(height / row) * row;
}

// Sets up a column for names, and behind it columns for figures, which are as wide as figures are.
// The names get the rest.
void SetUpGpuColumns(const Ui& ui, const std::string& first, std::initializer_list<Text> figures) {
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableSetupColumn(first.c_str(), ImGuiTableColumnFlags_WidthStretch, 1);
  for (const Text figure : figures) {
    const bool rate = figure == Text::kGpuColumnSpeed;  // "12.3 GB/s"
    const float width = rate ? 72 : 54;
    ImGui::TableSetupColumn(ui.T(figure), ImGuiTableColumnFlags_WidthFixed, ui.Px(width));
  }
}

// Draws the first cell: a name that can be clicked. `whole`: the name in the tip.
void NameCell(const Ui& ui, const std::string& name, const std::string& whole, int id,
              const Call& call, std::optional<Call>* chosen) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::PushID(id);
  if (ImGui::Selectable("##row", false, ImGuiSelectableFlags_SpanAllColumns)) *chosen = call;
  ImGui::PopID();
  if (ImGui::IsItemHovered()) Tip(ui, whole + "\n" + ui.T(Text::kStageGoTip));
  DrawText(ImGui::GetWindowDrawList(), ui.body, at, Ink(ui.palette().text),
           Elided(ui.body, name, width));
}

void RightCell(const Ui& ui, const std::string& text) {
  ImGui::TableNextColumn();
  CellRight(ui, text, text == "–");
}

void DrawHeads(const Ui& ui, const std::string& first, std::initializer_list<Text> others) {
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  ImGui::TableNextColumn();
  ImGui::TableHeader(first.c_str());
  for (const Text title : others) {
    ImGui::TableNextColumn();
    HeadRight(ui, ui.T(title), "");
  }
}

void DrawCopies(const Ui& ui, const GpuModel& gpu, Area area, std::optional<Call>* chosen) {
  const std::initializer_list<Text> titles = {Text::kCount, Text::kSpanBytes, Text::kTime,
                                              Text::kGpuColumnSpeed, Text::kGpuColumnBeside};
  const std::string kinds = OfDevices(ui.T(Text::kGpuKind), gpu.copy_devices, ui.language);
  BeginArea("copies", area, false);
  if (ImGui::BeginTable("table", 6, kFlags)) {
    SetUpGpuColumns(ui, kinds, titles);
    DrawHeads(ui, kinds, titles);
    int id = 0;
    for (const CopyRow& row : gpu.copy_rows) {
      const std::string name = KindName(ui, row);
      NameCell(ui, name, name, id++, row.longest, chosen);
      RightCell(ui, CountText(static_cast<double>(row.count)));
      RightCell(ui, BytesText(row.bytes));
      RightCell(ui, DurationText(row.wall));
      const double rate = row.rate();
      RightCell(ui, rate > 0 ? BytesText(static_cast<std::uint64_t>(rate)) + "/s" : "–");
      RightCell(ui, row.beside >= 0 ? analyzer::PercentText(row.beside) : "–");
    }
    ImGui::EndTable();
  }
  EndArea();
}

// Draws kernels or calls by name.
void DrawNames(const Ui& ui, const Workspace& workspace, const std::string& title, Text nameless,
               std::span<const NamedRow> rows, Area area, std::optional<Call>* chosen) {
  const std::initializer_list<Text> titles = {Text::kCount, Text::kTime, Text::kMean};
  BeginArea("names", area, false);
  if (ImGui::BeginTable("table", 4, kFlags)) {
    SetUpGpuColumns(ui, title, titles);
    DrawHeads(ui, title, titles);
    for (const NamedRow& row : rows) {
      std::string name =
          analyzer::PlainText(workspace.gpu.model.key().trace->String(row.name), 400);
      if (name.empty()) name = ui.T(nameless);
      NameCell(ui, KernelTitle(name), name, static_cast<int>(row.name.value), row.longest, chosen);
      RightCell(ui, CountText(static_cast<double>(row.count)));
      RightCell(ui, DurationText(row.wall));
      RightCell(ui, DurationText(row.wall / static_cast<double>(row.count)));
    }
    ImGui::EndTable();
  }
  EndArea();
}

// Draws the choice between the two tables that share one place. Returns the area of the chosen one.
Area DrawChoice(const Ui& ui, GpuState& state, const std::string& kernels, Area area) {
  ImGui::SetCursorScreenPos(area.min);
  if (TabButton(ui, kernels.c_str(), !state.calls)) state.calls = false;
  ImGui::SameLine(0, ui.Px(4));
  if (TabButton(ui, ui.T(Text::kGpuCalls), state.calls)) state.calls = true;
  area.min.y += ImGui::GetFrameHeight() + ui.Px(4);
  return area;
}

}  // namespace

std::string KindName(const Ui& ui, const CopyRow& row) {
  const std::string way = ui.T(WayName(row.way));
  switch (row.memory) {
    case analyzer::CopyMemory::kPageable:
      return way + ui.T(Text::kComma) + ui.T(Text::kGpuPageable);
    case analyzer::CopyMemory::kPinned:
      return way + ui.T(Text::kComma) + ui.T(Text::kGpuPinned);
    case analyzer::CopyMemory::kManaged:
      return way + ui.T(Text::kComma) + ui.T(Text::kGpuManaged);
    case analyzer::CopyMemory::kUnknown:
      break;
  }
  const bool host = row.way == CopyWay::kToDevice || row.way == CopyWay::kFromDevice;
  return host ? way + ui.T(Text::kComma) + ui.T(Text::kGpuUnknownKind) : way;
}

float GpuTablesHeight(const Ui& ui, const GpuModel& gpu, std::size_t most) {
  float height = ui.Px(22) + FontPixels(ui.strong) + ui.Px(8);  // of the panel and its heading
  height += gpu.copy_rows.empty() ? FontPixels(ui.body) + ui.Px(12)
                                  : TableHeight(ui, gpu.copy_rows.size()) + ui.Px(8);
  const std::size_t names = std::min(std::max(gpu.kernel_rows.size(), gpu.call_rows.size()), most);
  if (!gpu.kernel_rows.empty() && !gpu.call_rows.empty()) {
    height += ImGui::GetFrameHeight() + ui.Px(4);
  }
  return names > 0 ? height + TableHeight(ui, names) : height;
}

void DrawGpuTables(const Ui& ui, Workspace& workspace, const GpuModel& gpu, Area area) {
  const Palette& p = ui.palette();
  const Area panel = Panel(ui, area);
  if (gpu.leaves_out_small()) {
    DrawTextRight(ImGui::GetWindowDrawList(), ui.small, panel.max.x, panel.min.y + ui.Px(2),
                  Ink(p.dim), ui.T(Text::kGpuSpeedNote));
  }
  Area inside = Headed(ui, panel, ui.T(TitleOfTables(gpu)));
  const bool both = !gpu.kernel_rows.empty() && !gpu.call_rows.empty();
  std::optional<Call> chosen;
  if (gpu.copy_rows.empty()) {
    const bool elsewhere =
        RecordedElsewhere(workspace, {traces::StageId::kH2d, traces::StageId::kCopy});
    const Text none = elsewhere ? Text::kStageNothingHere : Text::kGpuNoCopies;
    DrawText(ImGui::GetWindowDrawList(), ui.body, inside.min, Ink(p.dim),
             Elided(ui.body, ui.T(none), inside.width()));
    inside.min.y += FontPixels(ui.body) + ui.Px(12);
  } else {
    // The table of copies leaves room for some kernels or calls. If there are more kinds of copies
    // than fit, their table scrolls.
    constexpr std::size_t kLeastNames = 2;
    const std::size_t names = std::max(gpu.kernel_rows.size(), gpu.call_rows.size());
    const float least = TableHeight(ui, std::min(names, kLeastNames)) + ui.Px(8) +
                        (both ? ImGui::GetFrameHeight() + ui.Px(4) : 0);
    const float room =
        names > 0 ? std::max(inside.height() / 2, inside.height() - least) : inside.height();
    const float height = std::min(TableHeight(ui, gpu.copy_rows.size()), WholeRows(room));
    DrawCopies(ui, gpu, {inside.min, {inside.max.x, inside.min.y + height}}, &chosen);
    inside.min.y += height + ui.Px(8);
  }
  if (inside.height() > ui.Px(40)) {
    const std::string kernels = OfDevices(ui.T(Text::kGpuKernels), gpu.kernel_devices, ui.language);
    if (both) inside = DrawChoice(ui, workspace.gpu, kernels, inside);
    inside.max.y = inside.min.y + WholeRows(inside.height());
    const bool calls = both ? workspace.gpu.calls : gpu.kernel_rows.empty();
    if (calls && !gpu.call_rows.empty()) {
      DrawNames(ui, workspace, ui.T(Text::kGpuCalls), Text::kGpuCall, gpu.call_rows, inside,
                &chosen);
    } else if (!gpu.kernel_rows.empty()) {
      DrawNames(ui, workspace, kernels, Text::kGpuKernel, gpu.kernel_rows, inside, &chosen);
    }
  }
  if (chosen) workspace.ShowCall(*chosen);
}

}  // namespace penstock::gui
