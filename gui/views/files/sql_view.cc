// SPDX-License-Identifier: Apache-2.0
//
// The SQL view: a question over the tables and views of the exported trace, and its answer as table
// and curve.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "gui/model/files/sql_desk.h"
#include "gui/views/panel_parts.h"
#include "gui/widgets/plot.h"

namespace penstock::gui {
namespace {

struct Example {
  Text name;
  const char* question;
};
constexpr std::array kExamples = {
    Example{Text::kSqlStages, "SELECT * FROM stage_summary"},
    Example{Text::kSqlNames, "SELECT * FROM name_summary LIMIT 50"},
    Example{Text::kSqlFiles, "SELECT * FROM file_reads LIMIT 50"},
    Example{Text::kSqlBatches,
            "SELECT delivered_ns, waited_ns, epoch, batch FROM batches ORDER BY delivered_ns"},
    Example{Text::kSqlWorkers, "SELECT * FROM workers"},
    Example{Text::kSqlSpans,
            "SELECT * FROM spans WHERE stage = 'decode'\nORDER BY duration_ns DESC LIMIT 50"},
    Example{Text::kSqlTables, "SELECT name, sql FROM sqlite_master WHERE type <> 'index'"}};

// Draws the field of the question with its buttons. Returns whether the question is to be asked.
bool DrawQuestion(const Ui& ui, SqlViewState& state, bool busy, Area area) {
  bool ask = false;
  const float line = ImGui::GetFrameHeight();
  ImGui::SetCursorScreenPos(area.min);
  ImGui::PushFont(ui.mono);
  if (ImGui::InputTextMultiline("##sql", &state.text,
                                {area.width(), area.height() - line - ui.Px(8)},
                                ImGuiInputTextFlags_EnterReturnsTrue)) {
    ask = !busy;
  }
  ImGui::PopFont();
  ImGui::SetCursorScreenPos({area.min.x, area.max.y - line});
  if (PrimaryButton(ui, ui.T(Text::kSqlRun)) && !busy) ask = true;
  ImGui::SameLine(0, ui.Px(16));
  ImGui::AlignTextToFramePadding();
  ImGui::TextColored(Tint(ui.palette().dim), "%s", ui.T(Text::kSqlExamples));
  for (const Example& example : kExamples) {
    ImGui::SameLine(0, ui.Px(8));
    ImGui::PushID(example.question);
    if (ImGui::Button(ui.T(example.name))) {
      state.text = example.question;
      ask = !busy;
    }
    Tip(ui, example.question);
    ImGui::PopID();
  }
  return ask;
}

void KeepSqlOrder(SqlViewState& state, const SqlReply& reply) {
  const bool known = state.ordered == state.reply.key() &&
                     state.order.size() == reply.answer.table.rows.size() && !state.unsorted;
  if (known) return;
  state.order = SortSqlRows(reply.answer.table, state.column, state.descending);
  state.ordered = state.reply.key();
  state.unsorted = false;
}

void DrawAnswerTable(const Ui& ui, SqlViewState& state, const SqlReply& reply, Area area) {
  constexpr std::size_t kMostColumns = 60;  // Dear ImGui's tables have at most 64
  const traces::SqlTable& table = reply.answer.table;
  const std::size_t columns = std::min(table.columns.size(), kMostColumns);
  if (columns == 0) return;
  BeginArea("answer", area, false);
  constexpr ImGuiTableFlags kSqlFlags = ImGuiTableFlags_ScrollX | ImGuiTableFlags_ScrollY |
                                        ImGuiTableFlags_RowBg | ImGuiTableFlags_Resizable |
                                        ImGuiTableFlags_Sortable | ImGuiTableFlags_SortTristate |
                                        ImGuiTableFlags_SizingFixedFit;
  ImGui::PushID(state.asked.c_str());
  if (ImGui::BeginTable("rows", static_cast<int>(columns), kSqlFlags)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    std::vector<bool> numeric;
    for (std::size_t c = 0; c < columns; ++c) {
      numeric.push_back(IsNumeric(table, c));
      ImGui::TableSetupColumn(table.columns[c].c_str(), 0,
                              numeric.back() ? ui.Px(120) : ui.Px(200));
    }
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
    for (std::size_t c = 0; c < columns; ++c) {
      ImGui::TableNextColumn();
      ImGui::PushID(static_cast<int>(c));
      if (numeric[c]) {
        HeadRight(ui, table.columns[c], "");
      } else {
        ImGui::TableHeader(table.columns[c].c_str());
      }
      ImGui::PopID();
    }
    if (ImGuiTableSortSpecs* sort = ImGui::TableGetSortSpecs();
        sort != nullptr && sort->SpecsDirty) {
      state.column = sort->SpecsCount > 0 ? sort->Specs[0].ColumnIndex : -1;
      state.descending =
          sort->SpecsCount > 0 && sort->Specs[0].SortDirection == ImGuiSortDirection_Descending;
      state.unsorted = true;
      sort->SpecsDirty = false;
    }
    KeepSqlOrder(state, reply);
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(state.order.size()));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        const auto& row = table.rows[state.order[static_cast<std::size_t>(i)]];
        ImGui::TableNextRow();
        for (std::size_t c = 0; c < columns; ++c) {
          ImGui::TableNextColumn();
          const std::string text = analyzer::PlainText(SqlValueText(row[c]), 400);
          if (numeric[c]) {
            CellRight(ui, text, false);
          } else {
            ImGui::TextUnformatted(text.c_str());
          }
        }
      }
    }
    ImGui::EndTable();
  }
  ImGui::PopID();
  EndArea();
}

// Times of the database are nanoseconds, and their columns say so.
std::function<std::string(double)> AxisTextOf(const std::string& column) {
  if (column.ends_with("_ns")) return [](double ns) { return analyzer::DurationText(ns * 1e-9); };
  return [](double value) { return fmt::format("{:.4g}", value); };
}

void DrawCurve(const Ui& ui, const traces::SqlTable& table, const SqlCurve& curve, Area area) {
  Area inside = Headed(ui, Panel(ui, area), "");
  DrawShortened(ui, ui.strong, {inside.min.x, area.min.y + ui.Px(12)}, Ink(ui.palette().text),
                ui.F(Text::kSqlPlot, table.columns[curve.y], table.columns[curve.x]),
                inside.width());
  PlotLine line{"", ui.palette().accent, {}, false};
  PlotAxes axes;
  axes.x_low = curve.points.front().first;
  axes.x_high = std::max(curve.points.back().first, axes.x_low + 1e-9);
  axes.y_low = 0;
  axes.y_high = 1e-9;
  for (const auto& [x, y] : curve.points) {
    line.points.push_back({x, y});
    axes.y_low = std::min(axes.y_low, y);
    axes.y_high = std::max(axes.y_high, y);
  }
  axes.y_high += 0.05 * (axes.y_high - axes.y_low);
  axes.x_text = AxisTextOf(table.columns[curve.x]);
  axes.y_text = AxisTextOf(table.columns[curve.y]);
  const PlotFrame frame = BeginPlot(ui, inside, axes, {});
  DrawLine(ui, frame, line);
}

// Whether the first answer takes at most about a second. Then the question that the view proposes
// is asked at once, so that the view shows something.
bool AnswersSoon(const Document& document) {
  constexpr std::uint64_t kFewSpans = 500'000;  // all of them are written into the database
  return document.trace != nullptr && document.timeline != nullptr &&
         document.timeline->spans <= kFewSpans;
}

void DrawReply(const Ui& ui, Workspace& workspace, const SqlReply& reply, Area area) {
  const Palette& p = ui.palette();
  SqlViewState& state = workspace.sql;
  if (!reply.good()) {
    DrawShortened(ui, ui.body, area.min, Ink(p.bad), SqlProblemText(reply, ui.language),
                  area.width());
    return;
  }
  const traces::SqlTable& table = reply.answer.table;
  const float line = ImGui::GetFrameHeight();
  DrawText(ImGui::GetWindowDrawList(), ui.strong,
           {area.min.x, area.min.y + (line - FontPixels(ui.strong)) / 2}, Ink(p.text),
           SqlRowsText(reply, ui.language));
  const char* copy = ui.T(Text::kGroupCopy);
  const float button = TextWidth(ui.body, copy) + 2 * ImGui::GetStyle().FramePadding.x;
  ImGui::SetCursorScreenPos({area.max.x - button, area.min.y});
  if (ImGui::Button(copy)) {
    KeepSqlOrder(state, reply);
    workspace.CopyText(SqlCsv(table, state.order));
  }
  area.min.y += line + ui.Px(8);
  if (state.curve_of != state.reply.key()) {
    state.curve = CurveOf(table);
    state.curve_of = state.reply.key();
  }
  if (state.curve) {
    const float right = area.max.x;
    area.max.x = area.min.x + (area.width() - ui.Px(10)) * 0.58F;
    DrawCurve(ui, table, *state.curve, {{area.max.x + ui.Px(10), area.min.y}, {right, area.max.y}});
  }
  DrawAnswerTable(ui, state, reply, Panel(ui, area));
}

}  // namespace

void SqlViewState::ForgetTrace() {
  reply.Forget();
  desk = std::make_shared<SqlDesk>();
  order = {};
  ordered.reset();
  curve.reset();
  curve_of.reset();
}

void DrawSql(const Ui& ui, Workspace& workspace, Area area) {
  const Palette& p = ui.palette();
  SqlViewState& state = workspace.sql;
  const Area panel = Panel(ui, {area.min, {area.max.x, area.min.y + ui.Px(170)}});
  const float note = FontPixels(ui.small) + ui.Px(6);
  DrawShortened(ui, ui.small, panel.min, Ink(p.dim), ui.T(Text::kSqlNote), panel.width());
  const bool busy = state.reply.busy();
  if (DrawQuestion(ui, state, busy, {{panel.min.x, panel.min.y + note}, panel.max})) {
    state.asked = state.text;
    state.column = -1;
    ++state.number;
  }
  if (state.asked.empty() && AnswersSoon(workspace.document)) state.asked = state.text;
  if (state.asked.empty()) return;
  const SqlViewState::Asked key{workspace.document.serial, state.asked, state.number};
  const SqlReply* reply = state.reply.Get(
      key, workspace.at_once,
      [key, trace = workspace.document.trace, desk = state.desk](const std::stop_token& stop) {
        return desk->Ask(trace, key.question, stop);
      });
  const Area below{{area.min.x, area.min.y + ui.Px(180)}, area.max};
  if (reply == nullptr) {
    DrawTextCentred(ImGui::GetWindowDrawList(), ui.body, below, Ink(p.dim), ui.T(Text::kAnalysing));
    return;
  }
  DrawReply(ui, workspace, *reply, below);
}

}  // namespace penstock::gui
