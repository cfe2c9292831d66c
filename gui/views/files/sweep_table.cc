// SPDX-License-Identifier: Apache-2.0
//
// Draws all cells of a sweep as a table, and one of them in full.
#include <algorithm>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "gui/views/files/sweep_parts.h"
#include "gui/views/panel_parts.h"
#include "gui/widgets/keys.h"

namespace penstock::gui {
namespace {

using analyzer::PlainText;

Text TitleOf(SweepColumn column) {
  switch (column) {
    case SweepColumn::kRate:
      return Text::kColumnRate;
    case SweepColumn::kSpread:
      return Text::kColumnRange;
    case SweepColumn::kOfBest:
      return Text::kColumnOfBest;
    case SweepColumn::kFirstBatch:
      return Text::kColumnFirst;
    case SweepColumn::kBottleneck:
      return Text::kBottleneck;
    case SweepColumn::kPerSample:
      return Text::kColumnPerSample;
    case SweepColumn::kIncrement:
      return Text::kColumnIncrement;
    case SweepColumn::kNote:
      break;
  }
  return Text::kColumnNote;
}

void TakeSorting(SweepViewState& state) {
  ImGuiTableSortSpecs* sort = ImGui::TableGetSortSpecs();
  if (sort == nullptr || (!sort->SpecsDirty && state.sorted)) return;
  state.sort_column = sort->SpecsCount > 0 ? sort->Specs[0].ColumnIndex : -1;
  state.descending =
      sort->SpecsCount == 0 || sort->Specs[0].SortDirection == ImGuiSortDirection_Descending;
  sort->SpecsDirty = false;
  // Without axes, the first column of the table holds the names of the cells. SortedCells() does
  // not count that column.
  const int shift = state.file->axes.empty() && state.sort_column >= 0 ? 1 : 0;
  state.order = SortedCells(*state.file, state.sort_column - shift, state.descending);
  state.sorted = true;
}

void DrawMarkOf(const Ui& ui, const Sweep& sweep, std::size_t cell, ImVec2 at) {
  const Palette& p = ui.palette();
  const bool best = sweep.best == cell;
  if (!best && sweep.suggested != cell) return;
  ImGui::GetWindowDrawList()->AddRectFilled({at.x - ui.Px(6), at.y},
                                            {at.x - ui.Px(3), at.y + FontPixels(ui.body)},
                                            Ink(best ? p.good : p.warn), ui.Px(1));
}

void DrawRow(const Ui& ui, SweepViewState& state, std::size_t index,
             const std::vector<SweepColumn>& columns) {
  const Sweep& sweep = *state.file;
  const SweepCell& cell = sweep.cells[index];
  const Palette& p = ui.palette();
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::PushID(static_cast<int>(index));
  if (ImGui::Selectable("##row", state.chosen == index, ImGuiSelectableFlags_SpanAllColumns)) {
    state.chosen = index;
  }
  ImGui::PopID();
  DrawMarkOf(ui, sweep, index, at);
  ImGui::SameLine(0, 0);
  const auto plain = [&](const std::string& text, bool dim) {
    ImGui::TextColored(Tint(dim ? p.dim : p.text), "%s", text.c_str());
  };
  if (sweep.axes.empty()) {
    const std::string name = PlainText(cell.name, 60);
    plain(Elided(ui.body, name, ImGui::GetContentRegionAvail().x), false);
    Tip(ui, name);
  }
  for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
    if (a > 0) ImGui::TableNextColumn();
    plain(PlainText(cell.values[a], 24), cell.values[a] == kAnyValue);
  }
  for (const SweepColumn column : columns) {
    ImGui::TableNextColumn();
    const bool dim = column != SweepColumn::kRate;
    const std::string text = CellText(sweep, cell, column, ui.language);
    if (column != SweepColumn::kNote) {
      plain(text, dim);
      continue;
    }
    plain(Elided(ui.body, text, ImGui::GetContentRegionAvail().x), dim);
    if (!text.empty()) Tip(ui, NoteTip(sweep, cell, ui.language));
  }
}

// Draws one line of the card: a name and a value. Returns the place of the next line.
float DrawFact(const Ui& ui, Area area, float y, const std::string& name,
               const std::string& value) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float left = ui.Px(130);
  DrawText(list, ui.body, {area.min.x, y}, Ink(ui.palette().dim),
           Elided(ui.body, name, left - ui.Px(6)));
  DrawText(list, ui.body, {area.min.x + left, y}, Ink(ui.palette().text),
           Elided(ui.body, value, area.width() - left));
  return y + FontPixels(ui.body) + ui.Px(4);
}

std::string RunsText(const SweepCell& cell) {
  std::string text;
  for (const double run : cell.runs) {
    text += (text.empty() ? "" : "   ") + NumberText(run);
  }
  return text;
}

// The height of DrawWays().
float WaysHeight(const Ui& ui, const Sweep& sweep, const SweepCell& cell, float width) {
  const float button = ImGui::GetFrameHeight();
  if (!TraceOf(cell).empty() || sweep.ablation()) return button;
  const auto lines = static_cast<float>(WrapText(ui.small, ui.T(Text::kNoTraceKept), width).size());
  return std::max(button, ui.Px(2) + lines * (FontPixels(ui.small) + ui.Px(4)));
}

void DrawWays(const Ui& ui, Workspace& workspace, const SweepCell& cell, Area area) {
  const Sweep& sweep = *workspace.sweep.file;
  const std::filesystem::path trace = TraceOf(cell);
  ImGui::SetCursorScreenPos(area.min);
  if (trace.empty()) {
    if (sweep.ablation()) return;
    ImGui::SetCursorScreenPos({area.min.x, area.min.y + ui.Px(6)});
    Paragraph(ui, ui.small, ui.palette().dim, ui.T(Text::kNoTraceKept), area.width());
    return;
  }
  const bool enter = Pressed(Key::kEnter) && !Typing() && !workspace.covered &&
                     !workspace.walking && !ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopup);
  if (PrimaryButton(ui, ui.T(Text::kOpenItsTrace)) || enter) {
    workspace.wish = {WishKind::kOpen, trace, {}};
  }
  Tip(ui, trace.string());
  if (!sweep.best) return;
  const std::filesystem::path best = TraceOf(sweep.cells[*sweep.best]);
  if (best.empty() || best == trace) return;
  ImGui::SameLine();
  if (ImGui::Button(ui.T(Text::kCompareWithBest))) {
    workspace.wish = {WishKind::kCompare, trace, best};
  }
}

}  // namespace

void DrawSweepTable(const Ui& ui, SweepViewState& state, Area area) {
  const Sweep& sweep = *state.file;
  const std::vector<SweepColumn> columns = ColumnsOf(sweep);
  const std::size_t first = std::max<std::size_t>(sweep.axes.size(), 1);
  // Each column is at least as wide as its head with the sorting arrow. If the columns do not fit,
  // the table scrolls sideways.
  struct Column {
    std::string title;
    ImGuiTableColumnFlags flags = ImGuiTableColumnFlags_None;
    float width = 0;
  };
  std::vector<Column> heads;
  float whole = 0;
  const auto add = [&](const std::string& title, ImGuiTableColumnFlags column_flags, float least) {
    const float width = std::max(least, TextWidth(ui.body, title) + ui.Px(20));
    heads.push_back({title, column_flags, width});
    whole += width + ImGui::GetStyle().CellPadding.x * 2;
  };
  if (sweep.axes.empty()) add(ui.T(Text::kColumnSetting), 0, ui.Px(180));
  for (const SweepAxis& axis : sweep.axes) add(AxisName(axis.name, ui.language), 0, ui.Px(40));
  for (const SweepColumn column : columns) {
    const bool rate = column == SweepColumn::kRate && !sweep.ablation();
    add(ui.T(TitleOf(column)),
        ImGuiTableColumnFlags_PreferSortDescending |
            (rate ? ImGuiTableColumnFlags_DefaultSort : ImGuiTableColumnFlags_None),
        column == SweepColumn::kNote     ? ui.Px(72)
        : column == SweepColumn::kSpread ? ui.Px(104)
                                         : ui.Px(74));
  }
  BeginArea("sweep", area, false);
  const float room = area.width() - ImGui::GetStyle().ScrollbarSize - ui.Px(2);
  const bool wide = whole > room;
  // Notes get what room is left, up to the longest of the first ones.
  if (!wide && columns.back() == SweepColumn::kNote) {
    constexpr std::size_t kMeasured = 200;
    float longest = 0;
    for (std::size_t i = 0; i < std::min(kMeasured, sweep.cells.size()); ++i) {
      const std::string note = CellText(sweep, sweep.cells[i], SweepColumn::kNote, ui.language);
      longest = std::max(longest, TextWidth(ui.body, note) + ui.Px(4));
    }
    heads.back().width += std::clamp(longest - heads.back().width, 0.0F, room - whole);
  }
  const ImGuiTableFlags flags =
      ImGuiTableFlags_ScrollY | (wide ? ImGuiTableFlags_ScrollX : ImGuiTableFlags_None) |
      ImGuiTableFlags_RowBg | ImGuiTableFlags_Sortable | ImGuiTableFlags_SortTristate |
      ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_Resizable;
  const auto count = static_cast<int>(first + columns.size());
  if (count <= 60 && ImGui::BeginTable("table", count, flags, {0, 0}, wide ? whole : 0)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    for (const Column& head : heads) {
      ImGui::TableSetupColumn(head.title.c_str(), head.flags, head.width);
    }
    ImGui::TableHeadersRow();
    TakeSorting(state);
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(state.order.size()));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        DrawRow(ui, state, state.order[static_cast<std::size_t>(i)], columns);
      }
    }
    ImGui::EndTable();
  }
  EndArea();
}

void DrawSweepCell(const Ui& ui, Workspace& workspace, std::size_t index, Area area) {
  const Sweep& sweep = *workspace.sweep.file;
  const SweepCell& cell = sweep.cells[index];
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  float y = area.min.y;
  std::string mark;
  if (sweep.best == index) {
    mark = ui.T(Text::kCellBest);
  } else if (sweep.suggested == index) {
    mark = ui.T(Text::kCellSuggested);
  }
  const float side = mark.empty() ? 0 : TextWidth(ui.small, mark) + ui.Px(8);
  DrawText(list, ui.strong, {area.min.x, y}, Ink(p.text),
           Elided(ui.strong, DescribeCell(sweep, cell, ui.language), area.width() - side));
  DrawTextRight(list, ui.small, area.max.x, y + ui.Px(2),
                Ink(sweep.best == index ? p.good : p.warn), mark);
  y += FontPixels(ui.strong) + ui.Px(6);
  if (cell.rate) {
    DrawText(list, ui.big, {area.min.x, y}, Ink(p.text), RateText(cell.rate->median, ui.language));
    y += FontPixels(ui.big) + ui.Px(6);
  }
  const std::string code = SettingsLine(sweep, cell);
  const float ways = WaysHeight(ui, sweep, cell, area.width());
  constexpr std::size_t kCodeLines = 4;
  const float box = code.empty() ? 0 : CodeBoxHeight(ui, code, area.width(), kCodeLines) + ui.Px(6);
  const float bottom = area.max.y - ways - ui.Px(8) - box;
  const auto fact = [&](Text name, const std::string& value) {
    if (value.empty() || value == "-") return;
    if (y + FontPixels(ui.body) > bottom) return;
    y = DrawFact(ui, area, y, ui.T(name), value);
  };
  const auto of = [&](SweepColumn column) { return CellText(sweep, cell, column, ui.language); };
  fact(Text::kColumnNote, of(SweepColumn::kNote));
  fact(Text::kColumnSpread, of(SweepColumn::kSpread));
  fact(Text::kColumnOfBest, of(SweepColumn::kOfBest));
  fact(Text::kBottleneck, of(SweepColumn::kBottleneck));
  fact(Text::kColumnFirst, of(SweepColumn::kFirstBatch));
  fact(Text::kColumnPerSample, of(SweepColumn::kPerSample));
  fact(Text::kCellRuns, RunsText(cell));
  if (!code.empty()) {
    ImGui::SetCursorScreenPos({area.min.x, bottom + ui.Px(4)});
    CodeBox(ui, workspace, code, area.width(), kCodeLines);
  }
  DrawWays(ui, workspace, cell, {{area.min.x, area.max.y - ways}, area.max});
}

}  // namespace penstock::gui
