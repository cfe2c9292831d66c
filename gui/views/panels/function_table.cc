// SPDX-License-Identifier: Apache-2.0
//
// Draws the table of functions by time, and the table that compares slow units with the others.
#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <string>

#include "analyzer/words/format.h"
#include "gui/views/panel_parts.h"
#include "gui/views/panels/stage_panels.h"
#include "gui/widgets/keys.h"

namespace penstock::gui {
namespace {

using analyzer::DurationText;

constexpr ImGuiTableFlags kFunctionTableFlags =
    ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchProp;

struct FunctionColumn {
  std::string title;
  std::string tip;
  float weight;
};

void ChooseFunction(const UnitProfile& profile, const FunctionId& id, FunctionsState& state) {
  state.chosen = id;
  const auto frame = WidestFrame(profile, id);
  state.frame = frame ? FramePathOf(profile, *frame) : FramePath();
  state.reveal = true;
}

// Draws the first cell of a row: a square in the colour of the function's file, and the name.
void NameOfFunction(const Ui& ui, Workspace& workspace, const FlameView& view, const FunctionId& id,
                    int row) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::PushID(row);
  if (ImGui::Selectable("##row", id == view.chosen, ImGuiSelectableFlags_SpanAllColumns)) {
    ChooseFunction(view.profile, id, workspace.stages.functions);
  }
  ImGui::PopID();
  const bool hovered = ImGui::IsItemHovered();
  const float size = ui.Px(11);
  list->AddRectFilled({at.x, at.y + ui.Px(2)}, {at.x + size, at.y + ui.Px(2) + size},
                      Ink(FunctionColour(ui, id)), ui.Px(3));
  const float indent = ui.Px(19);
  const std::string title = TitleOf(id);
  DrawText(list, ui.body, {at.x + indent, at.y}, Ink(ui.palette().text),
           Elided(ui.body, title, width - indent));
  if (hovered) Tip(ui, id.file.empty() ? title : title + "\n" + analyzer::PlainText(id.file, 300));
}

void NumberCell(const Ui& ui, const std::string& text) {
  ImGui::TableNextColumn();
  CellRight(ui, text, false);
}

// Draws a figure, and behind it a bar for `share`, which makes rows comparable at a glance.
void BarCell(const Ui& ui, const std::string& text, const FunctionId& id, double share) {
  ImGui::TableNextColumn();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width =
      ImGui::GetContentRegionAvail().x * static_cast<float>(std::clamp(share, 0.0, 1.0));
  ImGui::GetWindowDrawList()->AddRectFilled(at,
                                            {at.x + width, at.y + FontPixels(ui.body) + ui.Px(2)},
                                            Ink(FunctionColour(ui, id), 0.4), ui.Px(2));
  CellRight(ui, text, false);
}

// Draws a table with a column for the function, then `columns`. `rows` draws its rows.
void DrawColumns(const Ui& ui, std::span<const FunctionColumn> columns, Area area,
                 const std::function<void()>& rows) {
  BeginArea("function table", area, false);
  if (ImGui::BeginTable("table", static_cast<int>(columns.size()) + 1, kFunctionTableFlags)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableSetupColumn(ui.T(Text::kColumnFunctionName), 0, 3.0F);
    for (const FunctionColumn& column : columns) {
      ImGui::TableSetupColumn(column.title.c_str(), 0, column.weight);
    }
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
    ImGui::TableNextColumn();
    ImGui::TableHeader(ui.T(Text::kColumnFunctionName));
    for (const FunctionColumn& column : columns) {
      ImGui::TableNextColumn();
      // The head may be shortened.
      HeadRight(ui, column.title,
                column.tip.empty() ? column.title : column.title + "\n" + column.tip);
    }
    rows();
    ImGui::EndTable();
  }
  EndArea();
}

void DrawFunctionRows(const Ui& ui, Workspace& workspace, const FlameView& view, Area area) {
  const UnitProfile& profile = view.profile;
  const Text of = profile.unusual                           ? Text::kInFollowed
                  : profile.stage == traces::StageId::kStep ? Text::kInLoop
                                                            : Text::kInMaking;
  const std::string each = PerUnit(ui, profile.stage);
  const std::array columns = {
      FunctionColumn{ui.T(Text::kShare),
                     ui.F(of, UnitName(ui, profile.stage)) + "\n" + ui.T(Text::kColumnOwnTip),
                     0.7F},
      FunctionColumn{ui.T(Text::kColumnOwn), each + "\n" + ui.T(Text::kColumnOwnTip), 1.24F},
      FunctionColumn{ui.T(Text::kColumnAllCalls), each + "\n" + ui.T(Text::kColumnAllCallsTip),
                     1.2F},
      FunctionColumn{ui.T(Text::kColumnCallCount), each, 0.68F}};
  DrawColumns(ui, columns, area, [&] {
    int row = 0;
    for (const FunctionLine& line : profile.lines) {
      NameOfFunction(ui, workspace, view, line.id, row++);
      const double share = line.share * profile.scale();
      BarCell(ui, analyzer::PercentText(share), line.id, share);
      NumberCell(ui, DurationText(line.share * profile.unit_time));
      NumberCell(ui, DurationText(line.total * profile.unit_time));
      NumberCell(ui, analyzer::ShortNumber(line.count));
    }
  });
}

void DrawSlowRows(const Ui& ui, Workspace& workspace, const FlameView& view, Area area) {
  const analyzer::SlowUnits& slow = view.profile.slow;
  const std::string note = SlowNote(ui, slow);
  ImGui::SetCursorScreenPos(area.min);
  area.min.y += Paragraph(ui, ui.small, ui.palette().dim, note, area.width()) + ui.Px(6);
  const std::array columns = {FunctionColumn{ui.T(Text::kSlowColumn), "", 1},
                              FunctionColumn{ui.T(Text::kOthersColumn), "", 1},
                              FunctionColumn{ui.T(Text::kMoreColumn), "", 1}};
  DrawColumns(ui, columns, area, [&] {
    int row = 0;
    for (const analyzer::MoreTime& more : slow.functions) {
      const double gap = more.slow - more.others;
      const FunctionId id{more.file, more.line, more.name};
      NameOfFunction(ui, workspace, view, id, row++);
      NumberCell(ui, DurationText(more.slow));
      NumberCell(ui, more.others > 0 ? DurationText(more.others) : "–");
      BarCell(ui, DurationText(gap), id, gap / std::max(slow.slow_time - slow.other_time, 1e-9));
    }
  });
}

// Draws the choice between the two tables. Returns the area below.
Area DrawTableTabs(const Ui& ui, traces::StageId stage, FunctionsState& state, Area area) {
  const Text slow = stage == traces::StageId::kCollate ? Text::kSlowBatchesTab
                    : stage == traces::StageId::kStep  ? Text::kSlowStepsTab
                                                       : Text::kSlowSamplesTab;
  ImGui::PushID("table tabs");  // the view has a tab of the same name
  ImGui::SetCursorScreenPos(area.min);
  if (TabButton(ui, ui.T(Text::kTabFunctions), !state.slow)) state.slow = false;
  ImGui::SameLine(0, ui.Px(4));
  if (TabButton(ui, ui.T(slow), state.slow)) state.slow = true;
  Tip(ui, ui.T(Text::kSlowTip));
  ImGui::PopID();
  area.min.y += ImGui::GetFrameHeight() + ui.Px(6);
  return area;
}

}  // namespace

std::string SlowNote(const Ui& ui, const analyzer::SlowUnits& slow) {
  return ui.F(Text::kSlowNote, slow.units, slow.units + slow.others,
              analyzer::ShortNumber(analyzer::SlowUnits::kSlow), DurationText(slow.slow_time),
              DurationText(slow.other_time));
}

void DrawFunctionTable(const Ui& ui, Workspace& workspace, const FlameView& view, Area area) {
  FunctionsState& state = workspace.stages.functions;
  const bool comparable = view.profile.slow.units > 0;
  if (comparable && workspace.TakesKeys() && Pressed(Key::kS)) state.slow = !state.slow;
  if (comparable) area = DrawTableTabs(ui, view.profile.stage, state, area);
  if (comparable && state.slow) return DrawSlowRows(ui, workspace, view, area);
  DrawFunctionRows(ui, workspace, view, area);
}

}  // namespace penstock::gui
