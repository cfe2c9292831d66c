// SPDX-License-Identifier: Apache-2.0
//
// The SQL view: a question over the tables and views of the exported trace, and its answer as table
// and chart.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
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

constexpr std::size_t kMostSqlColumns = 60;  // Dear ImGui's tables have at most 64

// The width in which a column shows its longest number as a whole, or most of its longest text.
float SqlColumnWidth(const Ui& ui, const std::string& title, const SqlColumnFit& fit) {
  const float head = TextWidth(ui.body, title) + ui.Px(16);  // with the arrow of a sorted column
  if (fit.numeric) {
    return std::max(head, static_cast<float>(fit.longest.size()) * TextWidth(ui.body, "0"));
  }
  const float text = TextWidth(ui.body, fit.longest);
  return std::max(head, std::min(text, ui.Px(360)) + ui.Px(2));
}

// The width in which the table shows all its columns.
float SqlTableWidth(const Ui& ui, const traces::SqlTable& table,
                    const std::vector<SqlColumnFit>& fits) {
  const ImGuiStyle& style = ImGui::GetStyle();
  float width = style.ScrollbarSize + ui.Px(4);
  for (std::size_t c = 0; c < std::min(fits.size(), kMostSqlColumns); ++c) {
    width += SqlColumnWidth(ui, table.columns[c], fits[c]) + style.CellPadding.x * 2 + ui.Px(1);
  }
  return width;
}

// Draws a number whole, or an ellipsis where the column lies partly outside of the table: a part of
// a number would be another number.
void SqlNumberCell(const Ui& ui, const std::string& text) {
  const ImDrawList* list = ImGui::GetWindowDrawList();
  const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
  const float left = right - TextWidth(ui.body, text);
  const bool whole = left >= list->GetClipRectMin().x - 1 && right <= list->GetClipRectMax().x + 1;
  if (whole || text.empty()) return CellRight(ui, text, false);
  ImGui::TextColored(Tint(ui.palette().dim), "…");
}

void DrawAnswerTable(const Ui& ui, SqlViewState& state, const SqlReply& reply, Area area) {
  const traces::SqlTable& table = reply.answer.table;
  const std::size_t columns = std::min(state.fits.size(), kMostSqlColumns);
  if (columns == 0) return;
  BeginArea("answer", area, false);
  constexpr ImGuiTableFlags kSqlFlags = ImGuiTableFlags_ScrollX | ImGuiTableFlags_ScrollY |
                                        ImGuiTableFlags_RowBg | ImGuiTableFlags_Resizable |
                                        ImGuiTableFlags_Sortable | ImGuiTableFlags_SortTristate |
                                        ImGuiTableFlags_SizingFixedFit;
  // Another trace may have longer numbers, and so may this one if it has grown since.
  ImGui::PushID(static_cast<int>(state.reply.key().serial));
  ImGui::PushID(static_cast<int>(state.reply.key().number));
  ImGui::PushID(state.asked.c_str());
  if (ImGui::BeginTable("rows", static_cast<int>(columns), kSqlFlags)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    for (std::size_t c = 0; c < columns; ++c) {
      ImGui::TableSetupColumn(table.columns[c].c_str(), 0,
                              SqlColumnWidth(ui, table.columns[c], state.fits[c]));
    }
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
    for (std::size_t c = 0; c < columns; ++c) {
      ImGui::TableNextColumn();
      ImGui::PushID(static_cast<int>(c));
      if (state.fits[c].numeric) {
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
          if (state.fits[c].numeric) {
            SqlNumberCell(ui, text);
          } else {
            const std::string shown = Elided(ui.body, text, ImGui::GetContentRegionAvail().x);
            ImGui::TextUnformatted(shown.c_str());
            if (shown != text) Tip(ui, text);
          }
        }
      }
    }
    ImGui::EndTable();
  }
  ImGui::PopID();
  ImGui::PopID();
  ImGui::PopID();
  EndArea();
}

void DrawSqlCurve(const Ui& ui, const traces::SqlTable& table, const SqlChart& chart, Area area) {
  PlotLine line{"", ui.palette().accent, {}, false};
  PlotAxes axes;
  axes.x_low = chart.points.front().first;
  axes.x_high = chart.points.back().first;
  axes.y_low = 0;
  axes.y_high = 1e-9;
  for (const auto& [x, y] : chart.points) {
    line.points.push_back({x, y});
    axes.y_low = std::min(axes.y_low, y);
    axes.y_high = std::max(axes.y_high, y);
  }
  axes.y_high += 0.05 * (axes.y_high - axes.y_low);
  axes.x_text = SqlAxisText(table.columns[chart.x], axes.x_low, axes.x_high);
  axes.y_text = SqlAxisText(table.columns[chart.y], axes.y_low, axes.y_high);
  const PlotFrame frame = BeginPlot(ui, area, axes, {});
  DrawLine(ui, frame, line);
}

// Draws as many bars as there is room for, and says how many more there are.
void DrawSqlBars(const Ui& ui, const traces::SqlTable& table, const SqlChart& chart, Area area) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float line = FontPixels(ui.small);
  const float pitch = line + ui.Px(8);
  const auto fit = static_cast<std::size_t>(std::max(1.0F, area.height() / pitch));
  const std::size_t shown = chart.bars.size() <= fit ? chart.bars.size() : fit - 1;
  double most = 0;
  for (const auto& [name, value] : chart.bars) most = std::max(most, value);
  const auto text_of = SqlAxisText(table.columns[chart.y], 0, most);
  float names = 0;
  float values = 0;
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < shown; ++i) {
    const std::string& name = chart.bars[i].first;
    labels.push_back(name.empty() ? ui.T(Text::kGroupNone) : analyzer::PlainText(name, 400));
    names = std::max(names, TextWidth(ui.small, labels.back()));
    values = std::max(values, TextWidth(ui.small, text_of(chart.bars[i].second)));
  }
  names = std::min(names, area.width() * 0.4F);
  const float left = area.min.x + names + ui.Px(8);
  const float room = std::max(0.0F, area.max.x - left - values - ui.Px(6));
  float y = area.min.y;
  for (std::size_t i = 0; i < shown; ++i) {
    const std::string label = PathElided(ui.small, labels[i], names);
    DrawText(list, ui.small, {area.min.x, y}, Ink(p.text), label);
    const float end = left + room * static_cast<float>(chart.bars[i].second / most);
    list->AddRectFilled({left, y}, {std::max(end, left + ui.Px(1)), y + line}, Ink(p.accent),
                        ui.Px(2));
    DrawText(list, ui.small, {end + ui.Px(6), y}, Ink(p.dim), text_of(chart.bars[i].second));
    y += pitch;
  }
  if (shown < chart.bars.size()) {
    DrawText(list, ui.small, {area.min.x, y}, Ink(p.dim),
             fmt::format("+{}", chart.bars.size() - shown));
  }
}

void DrawSqlChart(const Ui& ui, const traces::SqlTable& table, const SqlChart& chart, Area area) {
  const Area inside = Headed(ui, Panel(ui, area), "");
  DrawShortened(ui, ui.strong, {inside.min.x, area.min.y + ui.Px(12)}, Ink(ui.palette().text),
                SqlChartTitle(table, chart, ui.language), inside.width());
  if (chart.bars.empty()) {
    DrawSqlCurve(ui, table, chart, inside);
  } else {
    DrawSqlBars(ui, table, chart, inside);
  }
}

// Whether the first answer takes longer than about a second, so that the view does not ask its
// first question by itself. The other documents are asked about at once.
bool HasManySpans(const Document& document) {
  constexpr std::uint64_t kFewSpans = 500'000;  // all of them are written into the database
  return document.timeline->spans > kFewSpans;
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
  if (state.fitted != state.reply.key()) {
    state.fits = SqlColumnFits(table);
    state.chart = SqlChartOf(table);
    state.fitted = state.reply.key();
  }
  // The columns come first: the chart takes what they leave, if that is enough for a chart.
  const float edges = ui.Px(2 * 14);  // of the table's panel
  const float gap = ui.Px(10);
  const float right = area.max.x;
  const float end = area.min.x + SqlTableWidth(ui, table, state.fits) + edges;
  if (state.chart && right - end - gap >= ui.Px(260)) {
    area.max.x = end;
    DrawSqlChart(ui, table, *state.chart, {{end + gap, area.min.y}, {right, area.max.y}});
  }
  DrawAnswerTable(ui, state, reply, Panel(ui, area));
}

}  // namespace

void SqlViewState::ForgetTrace() {
  reply.Forget();
  desk = std::make_shared<SqlDesk>();
  order = {};
  ordered.reset();
  fits = {};
  chart.reset();
  fitted.reset();
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
  const Area below{{area.min.x, area.min.y + ui.Px(180)}, area.max};
  const Document& document = workspace.document;
  if (state.asked.empty() && document.trace != nullptr && document.timeline != nullptr) {
    // The first question is about spans. Other questions have an answer even without spans.
    if (document.timeline->spans == 0) {
      return DrawNothing(ui, workspace, NothingRecorded(workspace), below);
    }
    if (HasManySpans(document)) {
      DrawEmpty(ui, below, SqlManySpansText(document.timeline->spans, ui.language), "");
      return;
    }
    state.asked = state.text;
  }
  if (state.asked.empty()) return;
  const SqlViewState::Asked key{workspace.document.serial, state.asked, state.number};
  const SqlReply* reply = state.reply.Get(
      key, workspace.at_once,
      [key, trace = workspace.document.trace, desk = state.desk](const std::stop_token& stop) {
        return desk->Ask(trace, key.question, stop);
      });
  if (reply == nullptr) {
    DrawTextCentred(ImGui::GetWindowDrawList(), ui.body, below, Ink(p.dim), ui.T(Text::kAnalysing));
    return;
  }
  DrawReply(ui, workspace, *reply, below);
}

}  // namespace penstock::gui
