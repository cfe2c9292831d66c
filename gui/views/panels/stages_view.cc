// SPDX-License-Identifier: Apache-2.0
//
// The stages view: a table of the time in each stage, the distribution of the chosen row's calls,
// and its slowest calls.
#include <algorithm>
#include <array>
#include <cmath>

#include "analyzer/report/slow_batches_report.h"
#include "gui/model/panels/stage_cells.h"
#include "gui/views/panel_parts.h"
#include "gui/views/panels/stage_panels.h"
#include "gui/widgets/keys.h"

namespace penstock::gui {
namespace {

struct StageTableColumn {
  Text title;
  float weight;
};
constexpr std::array kStageColumns = {
    StageTableColumn{Text::kStage, 2.95F},   StageTableColumn{Text::kShare, 1.05F},
    StageTableColumn{Text::kWall, 0.95F},    StageTableColumn{Text::kCpu, 0.95F},
    StageTableColumn{Text::kCount, 0.8F},    StageTableColumn{Text::kMedian, 1.05F},
    StageTableColumn{Text::kP90, 1.05F},     StageTableColumn{Text::kP99, 1.05F},
    StageTableColumn{Text::kSpanBytes, 1.0F}};

// Says to which total a row's share refers; see analyzer/report/stage_wholes.h.
Text ShareNote(const StageLine& line) {
  if (line.of_workers) return Text::kInMaking;
  if (line.id.stage == traces::StageId::kStartup) return Text::kInRun;
  if (line.unended) return Text::kInLoopUnended;
  return line.id.stage == traces::StageId::kIdle ? Text::kInLife : Text::kInLoop;
}

// Says for all stages of the table to which totals their shares refer.
std::string ShareTip(const Ui& ui, std::span<const StageLine> lines) {
  std::string tip;
  for (const Text note :
       {Text::kInMaking, Text::kInLoop, Text::kInLoopUnended, Text::kInLife, Text::kInRun}) {
    std::string words;
    for (const StageLine& line : lines) {
      if (line.is_part() || ShareNote(line) != note) continue;
      words += (words.empty() ? "" : ui.T(Text::kListComma)) + NameOf(line, 40, ui.language);
    }
    if (!words.empty()) tip += (tip.empty() ? "" : "\n") + ui.F(note, words);
  }
  return tip;
}

float NotesHeight(const Ui& ui, std::size_t lines) {
  return ui.Px(6) + (FontPixels(ui.small) + ui.Px(2)) * static_cast<float>(lines);
}

// Draws what the slowest batches do that the others do not. A tip has all of it.
void DrawSlowBatches(const Ui& ui, const std::string& said, const std::vector<std::string>& lines,
                     Area area) {
  float y = area.min.y;
  for (const std::string& line : lines) {
    DrawText(ImGui::GetWindowDrawList(), ui.small, {area.min.x, y}, Ink(ui.palette().text), line);
    y += FontPixels(ui.small) + ui.Px(2);
  }
  if (lines.empty()) return;
  ImGui::SetCursorScreenPos(area.min);
  ImGui::InvisibleButton("##slow", {std::max(area.width(), 1.0F), y - area.min.y});
  Tip(ui, said);
}

void DrawShareNotes(const Ui& ui, std::span<const StageLine> lines,
                    std::span<const std::string> notes, Area area) {
  float y = area.min.y;
  std::string tip = ShareTip(ui, lines);
  for (const std::string& note : notes) {
    DrawText(ImGui::GetWindowDrawList(), ui.small, {area.min.x, y}, Ink(ui.palette().dim),
             Elided(ui.small, note, area.width()));
    y += FontPixels(ui.small) + ui.Px(2);
    tip += "\n" + note;
  }
  ImGui::SetCursorScreenPos(area.min);
  ImGui::InvisibleButton("##shares", {std::max(area.width(), 1.0F), y - area.min.y});
  Tip(ui, tip);
}

void DrawRow(const Ui& ui, Workspace& workspace, const StageLine& line) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::PushID(static_cast<int>(line.id.stage));
  ImGui::PushID(static_cast<int>(line.id.part.value));
  const bool chosen = workspace.stages.chosen == line.id;
  if (ImGui::Selectable("##row", chosen, ImGuiSelectableFlags_SpanAllColumns)) {
    // The rest of a stage is no call, so the stage itself is chosen.
    workspace.stages.chosen = line.is_rest() ? RowId{line.id.stage, {}} : line.id;
    workspace.stages.bin.reset();
  }
  ImGui::PopID();
  ImGui::PopID();
  const std::string name = TitleOf(line, 80, ui.language);
  const float indent = ui.Px(line.is_part() ? 22 : 19);
  if (!line.is_part()) {
    const float size = ui.Px(11);
    list->AddRectFilled({at.x, at.y + ui.Px(2)}, {at.x + size, at.y + ui.Px(2) + size},
                        ui.Stage(line.id.stage), ui.Px(3));
  }
  DrawText(list, ui.body, {at.x + indent, at.y}, Ink(line.is_part() ? p.dim : p.text),
           Elided(ui.body, name, width - indent));
  if (ImGui::IsItemHovered() && TextWidth(ui.body, name) > width - indent) Tip(ui, name);
  for (int column = 1; column < static_cast<int>(kStageColumns.size()); ++column) {
    ImGui::TableNextColumn();
    const ImVec2 cell = ImGui::GetCursorScreenPos();
    const float room = ImGui::GetContentRegionAvail().x;
    if (column == static_cast<int>(StageColumn::kShare)) {
      // A bar behind the figure makes shares comparable at a glance.
      list->AddRectFilled({cell.x, cell.y},
                          {cell.x + room * static_cast<float>(std::min(line.share_of_one(), 1.0)),
                           cell.y + FontPixels(ui.body) + ui.Px(2)},
                          ui.Stage(line.id.stage, line.is_part() ? 0.22 : 0.4), ui.Px(2));
    }
    CellRight(ui, CellText(line, static_cast<StageColumn>(column), ui.language), line.is_part());
    const bool percentile = column >= static_cast<int>(StageColumn::kP50) &&
                            column <= static_cast<int>(StageColumn::kP99);
    if (line.mixed && !line.is_rest() && percentile) Tip(ui, ui.T(Text::kMixedTip));
  }
}

void DrawTable(const Ui& ui, Workspace& workspace, std::span<const StageLine> lines, Area area) {
  BeginArea("stages", area, false);
  const ImGuiTableFlags flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg |
                                ImGuiTableFlags_Sortable | ImGuiTableFlags_SortTristate |
                                ImGuiTableFlags_SizingStretchProp;
  if (ImGui::BeginTable("table", static_cast<int>(kStageColumns.size()), flags)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    for (std::size_t i = 0; i < kStageColumns.size(); ++i) {
      ImGui::TableSetupColumn(
          ui.T(kStageColumns[i].title),
          i == 0 ? ImGuiTableColumnFlags_NoSort : ImGuiTableColumnFlags_PreferSortDescending,
          kStageColumns[i].weight);
    }
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
    ImGui::TableNextColumn();
    ImGui::TableHeader(ui.T(Text::kStage));
    for (std::size_t i = 1; i < kStageColumns.size(); ++i) {
      ImGui::TableNextColumn();
      const bool share = kStageColumns[i].title == Text::kShare;
      HeadRight(ui, ui.T(kStageColumns[i].title), share ? ShareTip(ui, lines) : std::string());
    }
    if (const ImGuiTableSortSpecs* sort = ImGui::TableGetSortSpecs()) {
      workspace.stages.sort_column = sort->SpecsCount > 0 ? sort->Specs[0].ColumnIndex : -1;
      workspace.stages.descending =
          sort->SpecsCount == 0 || sort->Specs[0].SortDirection == ImGuiSortDirection_Descending;
    }
    const auto order = SortStages(lines, workspace.stages.sort_column, workspace.stages.descending);
    for (const std::uint32_t place : order) DrawRow(ui, workspace, lines[place]);
    ImGui::EndTable();
  }
  EndArea();
}

// Draws the tabs for durations and functions. Returns the area below.
Area DrawStageTabs(const Ui& ui, Workspace& workspace, Area area) {
  if (workspace.TakesKeys() && Pressed(Key::kF)) workspace.functions = !workspace.functions;
  ImGui::SetCursorScreenPos(area.min);
  if (TabButton(ui, ui.T(Text::kTabDistribution), !workspace.functions)) {
    workspace.functions = false;
  }
  Tip(ui, ui.T(Text::kTabTip));
  ImGui::SameLine(0, ui.Px(4));
  if (TabButton(ui, ui.T(Text::kTabFunctions), workspace.functions)) workspace.functions = true;
  Tip(ui, ui.T(Text::kTabTip));
  area.min.y += ImGui::GetFrameHeight() + ui.Px(8);
  return area;
}

void DrawPanels(const Ui& ui, Workspace& workspace, const std::vector<StageLine>& lines,
                Area area) {
  StagesState& state = workspace.stages;
  if (lines.empty()) {
    state.tail = {};
    return DrawEmpty(ui, area, ui.T(Text::kStageNothingHere), "");
  }
  const auto known = [&](const StageLine& line) { return line.id == state.chosen; };
  if (std::none_of(lines.begin(), lines.end(), known)) {
    state.chosen = MostTelling(workspace.Shown().analysis->report, lines);
    state.bin.reset();
  }
  const StageLine& line = *std::find_if(lines.begin(), lines.end(), known);
  state.bin = BinOf(line.histogram, state.bin);
  const float gap = ui.Px(10);
  const float left = std::floor((area.width() - gap) * 0.63F);
  Area table = Panel(ui, {area.min, {area.min.x + left, area.max.y}});
  constexpr std::size_t kMostSlowLines = 3;
  const analyzer::Report& report = workspace.Shown().analysis->report;
  const std::vector<std::string> notes =
      TableNotes(report.diagnosis.run, lines, report.diagnosis.ranks.rows.size(), ui.language);
  const std::string said = SlowBatchesSentence(report, ui.language);
  const std::vector<std::string> slow =
      said.empty() ? std::vector<std::string>()
                   : WrapText(ui.small, said, table.width(), kMostSlowLines).lines;
  const float slow_height = slow.empty() ? 0 : NotesHeight(ui, slow.size());
  table.max.y -= NotesHeight(ui, notes.size()) + slow_height;
  DrawTable(ui, workspace, lines, table);
  DrawSlowBatches(ui, said, slow,
                  {{table.min.x, table.max.y + ui.Px(6)}, {table.max.x, area.max.y}});
  DrawShareNotes(ui, lines, notes,
                 {{table.min.x, table.max.y + slow_height + ui.Px(6)}, {table.max.x, area.max.y}});
  Area inside = Panel(ui, {{area.min.x + left + gap, area.min.y}, area.max});
  inside = Headed(
      ui, inside,
      Elided(ui.strong, ui.F(Text::kDurations, NameOf(line, 60, ui.language)), inside.width()));
  inside.min.y += ui.Px(4);
  const float middle = inside.min.y + inside.height() * 0.46F;
  DrawHistogram(ui, workspace, line, {inside.min, {inside.max.x, middle}});
  DrawTail(ui, workspace, line, {{inside.min.x, middle + ui.Px(14)}, inside.max});
}

}  // namespace

void DrawStages(const Ui& ui, Workspace& workspace, Area area) {
  const auto analysis = workspace.Shown().analysis;
  const auto trace = workspace.Shown().trace;
  if (analysis->report.stages.empty() && !workspace.Range()) {
    return DrawNothing(ui, workspace, NothingRecorded(workspace), area);
  }
  area = DrawStageTabs(ui, workspace, area);
  if (workspace.functions) return DrawFunctions(ui, workspace, area);
  const std::vector<StageLine>* lines = workspace.stages.lines.Get(
      workspace.question(workspace.Shown()), workspace.at_once, [=](const std::stop_token& stop) {
        return BuildStages({trace.get(), std::nullopt}, *analysis, stop);
      });
  if (lines == nullptr) {
    DrawTextCentred(ImGui::GetWindowDrawList(), ui.body, area, Ink(ui.palette().dim),
                    ui.T(Text::kAnalysing));
    return;
  }
  DrawPanels(ui, workspace, *lines, area);
}

}  // namespace penstock::gui
