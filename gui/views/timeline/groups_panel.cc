// SPDX-License-Identifier: Apache-2.0
//
// Draws the table that a search asks for ("stage:decode group:file top 20") below the rows.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "gui/model/timeline/grouping.h"
#include "gui/model/timeline/ticks.h"
#include "gui/views/panel_parts.h"
#include "gui/views/timeline/timeline_canvas.h"

namespace penstock::gui {
namespace {

using analyzer::DurationText;

std::string DurationOf(double ns) {
  return DurationText(ns * 1e-9);
}

// A name that is too long is cut; a path is cut at its beginning.
std::string ShownName(const GroupTable& table, const std::string& name, ImFont* font, float width) {
  const bool path = table.wish.by == GroupBy::kFile || table.wish.by == GroupBy::kShard;
  return path ? PathElided(font, name, width) : Elided(font, name, width);
}

class GroupsDrawer {
 public:
  GroupsDrawer(const TimelineCanvas& canvas, const GroupTable& table)
      : ui_(canvas.ui),
        workspace_(canvas.workspace),
        timeline_(canvas.timeline),
        table_(table),
        loaders_(canvas.workspace.LoadersById()) {}

  [[nodiscard]] std::string Csv() const {
    return GroupsCsv(table_, workspace_.groups.order, timeline_, loaders_);
  }

  // Returns the row that was clicked.
  const GroupRow* Draw() {
    constexpr ImGuiTableFlags kGroupFlags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg |
                                            ImGuiTableFlags_Sortable |
                                            ImGuiTableFlags_SizingStretchProp;
    const GroupRow* clicked = nullptr;
    if (!ImGui::BeginTable("groups", 5, kGroupFlags)) return clicked;
    ImGui::TableSetupScrollFreeze(0, 1);
    DrawHeadings();
    KeepOrder();
    const std::vector<std::uint32_t>& order = workspace_.groups.order;
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(order.size()));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        const GroupRow& row = table_.rows[order[static_cast<std::size_t>(i)]];
        if (DrawGroup(row, i)) clicked = &row;
      }
    }
    ImGui::EndTable();
    return clicked;
  }

 private:
  void DrawHeadings() {
    const Text name = HeadOfGroups(table_.wish.by);
    ImGui::TableSetupColumn(ui_.T(name), 0, 4);
    for (const Text title : {Text::kCount, Text::kGroupSum, Text::kMean, Text::kGroupLargest}) {
      ImGuiTableColumnFlags sorting = ImGuiTableColumnFlags_PreferSortDescending;
      if (title == Text::kGroupSum) sorting |= ImGuiTableColumnFlags_DefaultSort;
      ImGui::TableSetupColumn(ui_.T(title), sorting, 1);
    }
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
    ImGui::TableNextColumn();
    ImGui::TableHeader(ui_.T(name));
    for (const Text title : {Text::kCount, Text::kGroupSum, Text::kMean, Text::kGroupLargest}) {
      ImGui::TableNextColumn();
      HeadRight(ui_, ui_.T(title), title == Text::kGroupSum ? ui_.T(Text::kGroupSumTip) : "");
    }
    const ImGuiTableSortSpecs* sort = ImGui::TableGetSortSpecs();
    if (sort == nullptr || sort->SpecsCount == 0) return;
    GroupsState& state = workspace_.groups;
    state.column = static_cast<GroupColumn>(sort->Specs[0].ColumnIndex);
    state.descending = sort->Specs[0].SortDirection == ImGuiSortDirection_Descending;
  }

  // Sorts again if the table or the column has changed.
  void KeepOrder() {
    GroupsState& state = workspace_.groups;
    const GroupsState::OrderKey key{state.table.key(), state.column, state.descending};
    if (state.ordered == key && state.order.size() == table_.rows.size()) return;
    state.order = SortGroups(table_.rows, state.column, state.descending);
    state.ordered = key;
  }

  bool DrawGroup(const GroupRow& row, int id) {
    const Palette& p = ui_.palette();
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    ImGui::PushID(id);
    const bool chosen = workspace_.groups.chosen == row.key;
    const bool clicked =
        ImGui::Selectable("##group", chosen, ImGuiSelectableFlags_SpanAllColumns | kMayBeCovered);
    ImGui::PopID();
    const std::string name = NameOfGroup(table_, row, timeline_, loaders_, ui_.language);
    const std::string plain = analyzer::PlainText(name, 400);
    Tip(ui_, fmt::format("{}\n{}", plain, ui_.T(Text::kGroupGoTip)));
    float left = at.x;
    if (table_.wish.by == GroupBy::kStage) {
      DrawSwatch(ui_, timeline_, row.largest.stage, {at.x, at.y + ui_.Px(2)});
      left += ui_.Px(18);
    }
    DrawText(ImGui::GetWindowDrawList(), ui_.body, {left, at.y}, Ink(p.text),
             ShownName(table_, plain, ui_.body, at.x + width - left));
    const auto cell = [&](const std::string& text) {
      ImGui::TableNextColumn();
      CellRight(ui_, text, false);
    };
    cell(CountText(static_cast<double>(row.count)));
    ImGui::TableNextColumn();
    DrawShare(row);
    CellRight(ui_, DurationOf(static_cast<double>(row.sum)), false);
    cell(DurationOf(row.mean()));
    cell(DurationOf(static_cast<double>(row.largest.wall)));
    return clicked;
  }

  // A bar behind the figure makes sums comparable at a glance.
  void DrawShare(const GroupRow& row) const {
    const ImVec2 cell = ImGui::GetCursorScreenPos();
    const auto most = static_cast<double>(std::max<std::int64_t>(table_.rows.front().sum, 1));
    const auto part = static_cast<float>(static_cast<double>(row.sum) / most);
    ImGui::GetWindowDrawList()->AddRectFilled(cell,
                                              {cell.x + ImGui::GetContentRegionAvail().x * part,
                                               cell.y + FontPixels(ui_.body) + ui_.Px(2)},
                                              ui_.Stage(row.largest.stage, 0.4), ui_.Px(2));
  }

  const Ui& ui_;
  Workspace& workspace_;
  const Timeline& timeline_;
  const GroupTable& table_;
  std::vector<std::string> loaders_;
};

// Chooses the longest call of a row, and searches for all calls of the row, which marks them.
void GoToGroup(const TimelineCanvas& canvas, const GroupTable& table, const GroupRow& row) {
  Workspace& workspace = canvas.workspace;
  if (const auto span = FindSpan(canvas.timeline, row.largest)) workspace.ShowSpan(*span);
  workspace.groups.chosen = row.key;
  workspace.NarrowSearch(WordsOfGroup(table, row, canvas.timeline));
}

}  // namespace

void DrawGroupsPanel(const TimelineCanvas& canvas, Area area) {
  const Ui& ui = canvas.ui;
  const Palette& p = ui.palette();
  Workspace& workspace = canvas.workspace;
  const Area inside = Panel(ui, area);
  const GroupsKey key{workspace.document.trace, workspace.document.timeline, workspace.search.text,
                      workspace.Range()};
  const auto* table =
      workspace.groups.table.Get(key, workspace.at_once, [key](const std::stop_token& stop) {
        const Extent extent{key.trace.get(), key.range};
        return BuildGroups(extent, *key.timeline, key.search, stop).value_or(GroupTable{});
      });
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (table == nullptr || table->rows.empty()) {
    DrawTextCentred(list, ui.body, inside, Ink(p.dim),
                    ui.T(table == nullptr ? Text::kAnalysing : Text::kGroupNothing));
    return;
  }
  GroupsDrawer drawer(canvas, *table);
  const Text title = key.range ? Text::kGroupInSelection : Text::kGroupTitle;
  // The button has room for both labels, so that it keeps its width after the table was copied.
  const char* label = ui.T(Text::kGroupCopy);
  const float button =
      std::max(TextWidth(ui.body, label), TextWidth(ui.body, ui.T(Text::kCopied))) +
      2 * ImGui::GetStyle().FramePadding.x;
  DrawShortened(ui, ui.strong, inside.min, Ink(p.text),
                ui.F(title, table->rows.size(), CountText(static_cast<double>(table->groups)),
                     CountText(static_cast<double>(table->count)),
                     DurationOf(static_cast<double>(table->sum))),
                inside.width() - button - ui.Px(16));
  ImGui::SetCursorScreenPos({inside.max.x - button, inside.min.y - ui.Px(4)});
  const bool copied = ImGui::GetTime() - workspace.copied_at < 2 &&
                      workspace.copied.find(",count,sum_s,") != std::string::npos;
  ImGui::PushID("copy groups");
  if (ImGui::Button(copied ? ui.T(Text::kCopied) : label, {button, 0})) {
    workspace.CopyText(drawer.Csv());
  }
  ImGui::PopID();
  BeginArea("groups", {{inside.min.x, inside.min.y + FontPixels(ui.strong) + ui.Px(8)}, inside.max},
            false);
  const GroupRow* clicked = drawer.Draw();
  EndArea();
  if (clicked != nullptr) GoToGroup(canvas, *table, *clicked);
}

}  // namespace penstock::gui
