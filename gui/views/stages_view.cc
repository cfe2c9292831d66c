// SPDX-License-Identifier: Apache-2.0
//
// Stages: a table of what each takes, and how the calls of the chosen one are distributed.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

#include "analyzer/report/format.h"
#include "gui/model/stages.h"
#include "gui/model/ticks.h"
#include "gui/views/workspace.h"

namespace penstock::gui {
namespace {

using analyzer::DurationText;
using analyzer::StageRow;
using traces::StageId;

std::string CellText(const StageRow& row, int column) {
  switch (column) {
    case 1:
      return analyzer::PercentText(row.share);
    case 2:
      return DurationText(row.wall);
    case 3:
      return row.cpu_known ? DurationText(row.cpu) : "-";
    case 4:
      return CountText(static_cast<double>(row.count));
    case 5:
      return DurationText(row.p50);
    case 6:
      return DurationText(row.p99);
    default:
      return row.bytes > 0 ? analyzer::BytesText(row.bytes) : "-";
  }
}

void RightAligned(const Ui& ui, const std::string& text, bool dim) {
  const float width = ImGui::CalcTextSize(text.c_str()).x;
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() +
                       std::max(0.0F, ImGui::GetContentRegionAvail().x - width));
  if (dim) {
    ImGui::TextColored(Tint(ui.palette().dim), "%s", text.c_str());
  } else {
    ImGui::TextUnformatted(text.c_str());
  }
}

void DrawRow(const Ui& ui, Workspace& workspace, const StageRow& row, bool child) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const StageId stage = StageNamed(row.name);
  if (child) {
    ImGui::Dummy({ui.Px(30), 1});
    ImGui::SameLine(0, 0);
    ImGui::TextColored(Tint(ui.palette().dim), "%s", analyzer::PlainText(row.name, 80).c_str());
  } else {
    ImGui::PushID(row.name.c_str());
    const bool chosen = workspace.stages.chosen == row.name;
    if (ImGui::Selectable("##row", chosen, ImGuiSelectableFlags_SpanAllColumns)) {
      workspace.stages.chosen = row.name;
    }
    ImGui::PopID();
    const float size = ui.Px(11);
    ImGui::GetWindowDrawList()->AddRectFilled(
        {at.x, at.y + ui.Px(2)}, {at.x + size, at.y + ui.Px(2) + size}, ui.Stage(stage), ui.Px(3));
    DrawText(ImGui::GetWindowDrawList(), ui.body, {at.x + ui.Px(19), at.y}, Ink(ui.palette().text),
             row.name);
  }
  for (int column = 1; column < 8; ++column) {
    ImGui::TableNextColumn();
    RightAligned(ui, CellText(row, column), child);
  }
}

void DrawTable(const Ui& ui, Workspace& workspace, Area area) {
  const auto& report = workspace.Shown().analysis->report;
  BeginArea("stages", area, false);
  const ImGuiTableFlags flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg |
                                ImGuiTableFlags_Sortable | ImGuiTableFlags_SortTristate |
                                ImGuiTableFlags_SizingStretchProp;
  if (ImGui::BeginTable("table", 8, flags)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    constexpr std::array kNames = {Text::kStage, Text::kShare,  Text::kWall, Text::kCpu,
                                   Text::kCount, Text::kMedian, Text::kP99,  Text::kSpanBytes};
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      ImGui::TableSetupColumn(
          ui.T(kNames[i]),
          i == 0 ? ImGuiTableColumnFlags_NoSort : ImGuiTableColumnFlags_PreferSortDescending,
          i == 0 ? 3.0F : 1.0F);
    }
    ImGui::TableHeadersRow();
    if (ImGuiTableSortSpecs* sort = ImGui::TableGetSortSpecs()) {
      workspace.stages.sort_column = sort->SpecsCount > 0 ? sort->Specs[0].ColumnIndex : -1;
      workspace.stages.descending =
          sort->SpecsCount == 0 || sort->Specs[0].SortDirection == ImGuiSortDirection_Descending;
    }
    const auto rows =
        SortedStages(report.stages, workspace.stages.sort_column, workspace.stages.descending);
    for (const StageRow* row : rows) {
      DrawRow(ui, workspace, *row, false);
      for (const StageRow& child : row->children) DrawRow(ui, workspace, child, true);
    }
    ImGui::EndTable();
  }
  EndArea();
}

// Durations on a log scale, with the median and the tail marked.
void DrawHistogram(const Ui& ui, const StageHistogram& histogram, Area area) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float foot = ui.small->FontSize + ui.Px(8);
  const float side = ui.Px(44);
  const Area plot{{area.min.x + side, area.min.y + ui.Px(18)}, {area.max.x, area.max.y - foot}};
  const auto bins = static_cast<double>(histogram.bins.size());
  const double most = std::max(histogram.most(), 1e-9);
  for (const double share : RoundValues(0, most, 4)) {
    const float y = plot.max.y - static_cast<float>(share / most) * plot.height();
    list->AddLine({plot.min.x, y}, {plot.max.x, y}, Ink(p.line, 0.7));
    DrawTextRight(list, ui.small, plot.min.x - ui.Px(6), y - ui.small->FontSize / 2, Ink(p.dim),
                  analyzer::PercentText(share));
  }
  const float width = plot.width() / static_cast<float>(bins);
  for (std::size_t i = 0; i < histogram.bins.size(); ++i) {
    if (histogram.bins[i] <= 0) continue;
    const float x = plot.min.x + width * static_cast<float>(i);
    const float height =
        std::max(ui.Px(1.5F), static_cast<float>(histogram.bins[i] / most) * plot.height());
    list->AddRectFilled({x + ui.Px(0.5F), plot.max.y - height},
                        {x + width - ui.Px(0.5F), plot.max.y}, ui.Stage(histogram.stage), ui.Px(2));
    ImGui::SetCursorScreenPos({x, plot.min.y});
    ImGui::PushID(static_cast<int>(i));
    ImGui::InvisibleButton("##bin", {std::max(width, 1.0F), std::max(plot.height(), 1.0F)});
    ImGui::PopID();
    Tip(ui, fmt::format("{} – {}: {}", DurationText(histogram.EdgeOf(i)),
                        DurationText(histogram.EdgeOf(i + 1)),
                        analyzer::PercentText(histogram.bins[i])));
  }
  const auto x_of = [&](double seconds) {
    return plot.min.x + static_cast<float>(histogram.PlaceOf(seconds) / bins) * plot.width();
  };
  float last = -1e9F;
  for (std::size_t i = 0; i <= histogram.bins.size(); i += analyzer::kBinsPerDecade) {
    const float x = plot.min.x + width * static_cast<float>(i);
    const std::string text = DurationText(histogram.EdgeOf(i));
    list->AddLine({x, plot.max.y}, {x, plot.max.y + ui.Px(4)}, Ink(p.dim));
    const float left = std::clamp(x - TextWidth(ui.small, text) / 2, plot.min.x,
                                  plot.max.x - TextWidth(ui.small, text));
    if (left < last + ui.Px(8)) continue;
    DrawText(list, ui.small, {left, plot.max.y + ui.Px(5)}, Ink(p.dim), text);
    last = left + TextWidth(ui.small, text);
  }
  // Names above the plot, apart from one another.
  const std::array marks = {std::pair("p99", histogram.p99), std::pair("p90", histogram.p90),
                            std::pair("p50", histogram.p50)};
  float right = plot.max.x + ui.Px(12);
  for (const auto& [name, seconds] : marks) {
    const float x = x_of(seconds);
    list->AddLine({x, plot.min.y}, {x, plot.max.y}, Ink(p.text, 0.7), ui.Px(1));
    const std::string text = fmt::format("{} {}", name, DurationText(seconds));
    const float width_of = TextWidth(ui.small, text);
    const float left = std::min(x - width_of / 2, right - ui.Px(12) - width_of);
    DrawText(list, ui.small, {left, area.min.y}, Ink(p.text), text);
    right = left;
  }
  list->AddLine({plot.min.x, plot.max.y}, plot.max, Ink(p.dim));
}

// The slowest calls of the stage, each a way into the timeline.
void DrawSlowest(const Ui& ui, Workspace& workspace, StageId stage, Area area) {
  if (!workspace.document.timeline) return;
  const Timeline& timeline = *workspace.document.timeline;
  const Palette& p = ui.palette();
  StagesState& state = workspace.stages;
  if (state.slowest_of != state.chosen || state.slowest_in != workspace.Range()) {
    state.slowest_of = state.chosen;
    state.slowest_in = workspace.Range();
    state.slowest = Slowest(timeline, stage, 12, state.slowest_in);
  }
  const std::vector<SpanRef>& spans = state.slowest;
  if (spans.empty()) return;
  DrawText(ImGui::GetWindowDrawList(), ui.strong, area.min, Ink(p.text), ui.T(Text::kSlowest));
  area.min.y += ui.strong->FontSize + ui.Px(6);
  BeginArea("slowest", area, true);
  const float width = ImGui::GetContentRegionAvail().x - ui.Px(4);
  std::optional<SpanRef> chosen;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const SpanRef span = spans[i];
    const SpanDetail& detail = timeline.detail(span);
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::Selectable("##slow", false, 0, {width, ui.Px(19)})) chosen = span;
    ImGui::PopID();
    const ImVec2 at = ImGui::GetItemRectMin();
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float y = at.y + ui.Px(2);
    DrawTextRight(
        list, ui.strong, at.x + ui.Px(70), y, Ink(p.text),
        DurationText(static_cast<double>(timeline.end(span) - timeline.start(span)) * 1e-9));
    const std::string_view object = workspace.document.trace->String(detail.object);
    const std::string_view file = object.substr(object.rfind('/') + 1);
    std::string text(workspace.document.trace->String(detail.name));
    if (detail.sample != SpanDetail::kNoSample) {
      text += fmt::format("{}{} {}", text.empty() ? "" : "  ·  ", ui.T(Text::kSpanSample),
                          detail.sample);
    }
    if (detail.key().valid()) {
      text +=
          fmt::format("{}{} {}", text.empty() ? "" : "  ·  ", ui.T(Text::kSpanBatch), detail.batch);
    }
    if (!file.empty()) text += "  ·  " + analyzer::PlainText(file, 60);
    DrawText(list, ui.body, {at.x + ui.Px(84), y}, Ink(p.dim),
             Elided(ui.body, text, width - ui.Px(84)));
  }
  EndArea();
  if (chosen) {
    workspace.timeline.Go(timeline, *chosen);
    workspace.reveal = true;
    workspace.view = ViewId::kTimeline;
  }
}

Text ShareNote(const StageRow& row) {
  if (row.of_workers) return Text::kInMaking;
  return row.name == "idle" ? Text::kInLife : Text::kInLoop;
}

}  // namespace

void DrawStages(const Ui& ui, Workspace& workspace, Area area) {
  const Analysis& analysis = *workspace.Shown().analysis;
  const Palette& p = ui.palette();
  if (analysis.report.stages.empty()) {
    DrawTextCentred(ImGui::GetWindowDrawList(), ui.title, area, Ink(p.dim), ui.T(Text::kNoSpans));
    return;
  }
  const auto known = [&](const StageRow& row) { return row.name == workspace.stages.chosen; };
  if (std::none_of(analysis.report.stages.begin(), analysis.report.stages.end(), known)) {
    workspace.stages.chosen = MostTelling(analysis.report);
  }
  const auto row =
      std::find_if(analysis.report.stages.begin(), analysis.report.stages.end(), known);
  const float gap = ui.Px(10);
  const float left = std::floor((area.width() - gap) * 0.58F);
  DrawTable(ui, workspace, Panel(ui, {area.min, {area.min.x + left, area.max.y}}));
  Area inside = Panel(ui, {{area.min.x + left + gap, area.min.y}, area.max});
  inside = Headed(ui, inside, ui.F(Text::kDurations, row->name));
  DrawText(ImGui::GetWindowDrawList(), ui.small, inside.min, Ink(p.dim),
           Elided(ui.small, ui.T(ShareNote(*row)), inside.width()));
  inside.min.y += ui.small->FontSize + ui.Px(10);
  const StageHistogram histogram = HistogramOf(analysis, *row);
  const float middle = inside.min.y + inside.height() * 0.52F;
  if (!histogram.bins.empty()) {
    DrawHistogram(ui, histogram, {inside.min, {inside.max.x, middle}});
  }
  DrawSlowest(ui, workspace, histogram.stage, {{inside.min.x, middle + ui.Px(14)}, inside.max});
}

}  // namespace penstock::gui
