// SPDX-License-Identifier: Apache-2.0
//
// Draws what lies over the rows of the timeline, and the strips above the rows.
#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "gui/model/timeline/mini_map.h"
#include "gui/model/timeline/ticks.h"
#include "gui/views/timeline/timeline_canvas.h"

namespace penstock::gui {
namespace {

using analyzer::DurationText;
using traces::StageId;

constexpr double kArrowAlpha = 0.95;

// Draws an arrow from the end of one stop to the beginning of the next.
void DrawArrow(const TimelineCanvas& canvas, SpanRef from, SpanRef to) {
  const Row* a = canvas.RowOf(from);
  const Row* b = canvas.RowOf(to);
  if (a == nullptr || b == nullptr || a == b) return;
  const Ui& ui = canvas.ui;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 colour = Ink(ui.palette().text, kArrowAlpha);
  // A wait begins before its batch is delivered, so the arrow points to the end of the wait.
  const bool waits = canvas.timeline.stage(to) == StageId::kWait;
  const float x0 = canvas.X(canvas.timeline.end(from));
  const float x1 = canvas.X(waits ? canvas.timeline.end(to) : canvas.timeline.start(to));
  const float y0 = canvas.Top(*a) + ui.Px(a->height) / 2;
  const float y1 = canvas.Top(*b) + ui.Px(b->height) / 2;
  const float top = a->pinned || b->pinned ? canvas.plot.min.y : canvas.RowsTop();
  if (std::max(y0, y1) < top || std::min(y0, y1) > canvas.plot.max.y) return;
  if (std::max(x0, x1) < canvas.plot.min.x || std::min(x0, x1) > canvas.plot.max.x) return;
  list->PushClipRect({canvas.plot.min.x, top}, canvas.plot.max, true);
  const float bend = std::clamp(std::abs(x1 - x0) / 2, ui.Px(12), ui.Px(80));
  list->AddBezierCubic({x0, y0}, {x0 + bend, y0}, {x1 - bend, y1}, {x1, y1}, colour, ui.Px(1.6F));
  const float tip = ui.Px(5);
  list->AddTriangleFilled({x1, y1}, {x1 - tip, y1 - tip * 0.6F}, {x1 - tip, y1 + tip * 0.6F},
                          colour);
  list->PopClipRect();
}

// Draws the way of the chosen span's batch as arrows. Other batches have no arrows, because the
// arrows of several batches would cross.
void DrawWay(const TimelineCanvas& canvas, SpanRef chosen) {
  const std::vector<SpanRef> stops = OwnStopsOf(canvas.timeline, chosen);
  // A batch usually has a handful of stops. The limit is for a training step with thousands of
  // copies, which would fill the screen with arrows.
  for (std::size_t i = 1; i < std::min<std::size_t>(stops.size(), 32); ++i) {
    DrawArrow(canvas, stops[i - 1], stops[i]);
  }
}

void DrawSelection(const TimelineCanvas& canvas) {
  const auto& selection = canvas.workspace.timeline.selection;
  if (!selection) return;
  const Ui& ui = canvas.ui;
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float x0 = canvas.X(selection->from);
  const float x1 = canvas.X(selection->to);
  list->AddRectFilled({x0, canvas.plot.min.y}, {x1, canvas.plot.max.y}, Ink(p.accent, 0.13));
  for (const float x : {x0, x1}) {
    list->AddLine({x, canvas.plot.min.y}, {x, canvas.plot.max.y}, Ink(p.accent), ui.Px(1));
  }
  const DragState& drag = canvas.workspace.drag;
  if (drag.kind == DragKind::kSelect && drag.snapped) {
    // A diamond shows that the edge of the selection has snapped to the edge of a span.
    const float x = drag.anchor == selection->from ? x1 : x0;
    const float y = ImGui::GetIO().MousePos.y;
    list->AddNgonFilled({x, y}, ui.Px(5), Ink(p.accent), 4);
    list->AddNgon({x, y}, ui.Px(5), Ink(InkOn(p.accent)), 4, ui.Px(1));
  }
  const std::string text = DurationText(Seconds(TimeNs{selection->length()}));
  const float width = TextWidth(ui.strong, text) + ui.Px(14);
  const float middle =
      std::clamp((x0 + x1) / 2, canvas.plot.min.x + width / 2,
                 std::max(canvas.plot.max.x - width / 2, canvas.plot.min.x + width / 2));
  const float y = canvas.plot.min.y + ui.Px(4);
  const Area pill{{middle - width / 2, y},
                  {middle + width / 2, y + FontPixels(ui.strong) + ui.Px(6)}};
  list->AddRectFilled(pill.min, pill.max, Ink(p.accent), ui.Px(5));
  DrawTextCentred(list, ui.strong, pill, Ink(InkOn(p.accent)), text);
}

// Draws at most one frame for each column of pixels. Binary searches skip further hits in a column,
// so the cost does not depend on the number of hits.
void DrawHitsOf(const TimelineCanvas& canvas, const Row& row, std::span<const SpanRef> hits) {
  const Ui& ui = canvas.ui;
  const Timeline& timeline = canvas.timeline;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float y = canvas.Top(row);
  auto it = std::partition_point(hits.begin(), hits.end(), [&](SpanRef hit) {
    return timeline.end(hit) <= canvas.window.from;
  });
  while (it != hits.end() && timeline.start(*it) <= canvas.window.to) {
    const float x0 = canvas.X(timeline.start(*it));
    const float x1 = std::max(canvas.X(timeline.end(*it)), x0 + ui.Px(2));
    const ImVec2 end{x1, y + ui.Px(row.height) - 1};
    if (x1 - x0 <= ui.Px(2)) {
      list->AddRectFilled({x0, y}, end,
                          Ink(ui.palette().text, 0.75));  // a frame would fill it anyway
    } else {
      list->AddRect({x0, y}, end, Ink(ui.palette().text, 0.9), 0, 0, ui.Px(1));
    }
    const std::int64_t next = canvas.At(x1 + 1);
    it = std::partition_point(it + 1, hits.end(),
                              [&](SpanRef hit) { return timeline.start(hit) < next; });
  }
}

void DrawHits(const TimelineCanvas& canvas) {
  const SearchState& search = canvas.workspace.search;
  if (!search.found || search.found->hits().empty()) return;
  for (const Row& row : canvas.rows) {
    // A row that is partly below the pinned rows must not be drawn over them.
    if (!canvas.Visible(row) || (!row.pinned && canvas.Top(row) < canvas.RowsTop())) continue;
    if (row.kind == RowKind::kLevel) {
      DrawHitsOf(canvas, row, search.found->HitsOf(row.lane, row.level));
    } else if (row.kind == RowKind::kGroup && row.group != Row::kAllGroups &&
               canvas.workspace.timeline.folded.count(row.group) > 0) {
      for (const std::size_t lane : canvas.timeline.groups[row.group].lanes) {
        const auto levels = static_cast<std::uint32_t>(canvas.timeline.lanes[lane].levels.size());
        for (std::uint32_t level = 0; level < levels; ++level) {
          DrawHitsOf(canvas, row, search.found->HitsOf(static_cast<std::uint32_t>(lane), level));
        }
      }
    }
  }
}

// The places of the hits in the whole trace: one tick for each pixel with a hit. The loop goes from
// pixel to pixel, not from hit to hit, because there may be a million hits.
std::vector<float> TicksOf(const TimelineCanvas& canvas, const std::vector<SpanRef>& hits,
                           const Window& whole) {
  std::vector<float> ticks;
  for (auto it = hits.begin(); it != hits.end();) {
    const double x = std::floor(whole.X(canvas.timeline.start(*it)));
    ticks.push_back(static_cast<float>(x));
    it = std::partition_point(
        it, hits.end(), [&](SpanRef hit) { return whole.X(canvas.timeline.start(hit)) < x + 1; });
  }
  return ticks;
}

void DrawMapHits(const TimelineCanvas& canvas, Area area, const Window& whole) {
  SearchState& search = canvas.workspace.search;
  if (!search.found) return;
  if (search.ticks_width != whole.width) {
    search.ticks = TicksOf(canvas, search.found->hits(), whole);
    search.ticks_width = whole.width;
  }
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 colour = Ink(canvas.ui.palette().text, 0.9);
  for (const float x : search.ticks) {
    list->AddRectFilled({area.min.x + x, area.max.y - canvas.ui.Px(5)},
                        {area.min.x + x + 1, area.max.y}, colour);
  }
}

void DrawChosen(const TimelineCanvas& canvas, SpanRef span, float thickness, double alpha) {
  const Row* row = canvas.RowOf(span);
  if (row == nullptr || !canvas.Visible(*row)) return;
  const Ui& ui = canvas.ui;
  const float y = canvas.Top(*row);
  const float x0 = canvas.X(canvas.timeline.start(span));
  const float x1 = std::max(canvas.X(canvas.timeline.end(span)), x0 + ui.Px(3));
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float top = row->pinned ? canvas.plot.min.y : canvas.RowsTop();
  list->PushClipRect({canvas.plot.min.x, top}, canvas.plot.max, true);
  list->AddRect({x0 - 1, y - 1}, {x1, y + ui.Px(row->height)}, Ink(ui.palette().text, alpha),
                ui.Px(2), 0, ui.Px(thickness));
  list->PopClipRect();
}

}  // namespace

void DrawOverlays(const TimelineCanvas& canvas, std::optional<SpanRef> hovered) {
  const Ui& ui = canvas.ui;
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->PushClipRect(canvas.plot.min, canvas.plot.max, true);
  DrawExperimentNames(canvas);
  DrawSelection(canvas);
  const std::optional<SpanRef> chosen = canvas.workspace.timeline.span;
  if (chosen) DrawWay(canvas, *chosen);
  DrawHits(canvas);
  if (hovered) DrawChosen(canvas, *hovered, 1, 0.8);
  if (chosen) DrawChosen(canvas, *chosen, 2, 1);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (ImGui::IsMouseHoveringRect(canvas.plot.min, canvas.plot.max)) {
    list->AddLine({mouse.x, canvas.plot.min.y}, {mouse.x, canvas.plot.max.y}, Ink(p.text, 0.25));
  }
  list->PopClipRect();
}

void DrawAxis(const TimelineCanvas& canvas, Area area) {
  const Ui& ui = canvas.ui;
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const int most = std::max(2, static_cast<int>(canvas.plot.width() / ui.Px(110)));
  list->PushClipRect({canvas.plot.min.x, area.min.y}, canvas.plot.max, true);
  float last = canvas.plot.min.x - ui.Px(20);  // where the previous text ends
  for (const AxisTick& tick : TimeTicks(canvas.window.from, canvas.window.to, most)) {
    const float x = canvas.X(std::llround(tick.at));
    list->AddLine({x, area.max.y - ui.Px(5)}, {x, canvas.plot.max.y}, Ink(p.line, 0.8));
    // A text stands right of its line. If there is no room, as for the last line, it stands left.
    const float width = TextWidth(ui.small, tick.text);
    float left = x + ui.Px(4);
    if (left + width > canvas.plot.max.x) left = x - ui.Px(4) - width;
    if (left < last + ui.Px(6)) left = canvas.plot.max.x - width;
    if (left < last + ui.Px(6)) continue;
    DrawText(list, ui.small, {left, area.min.y + ui.Px(2)}, Ink(p.dim), tick.text);
    last = left + width;
  }
  DrawExperiments(canvas, area);
  DrawMarkFlags(canvas, area);
  list->PopClipRect();
  list->AddLine({area.min.x, area.max.y}, area.max, Ink(p.line));
}

void DrawMiniMap(const TimelineCanvas& canvas, Area area) {
  const Ui& ui = canvas.ui;
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(area.min, area.max, Ink(p.background, 0.7), ui.Px(4));
  const Window whole{0, canvas.timeline.length, area.width(), 2};
  // The strips cost as much as all rows. They change with the timeline and the width only.
  Workspace::KeptMap& map = canvas.workspace.map;
  if (map.timeline != canvas.workspace.document.timeline || map.width != whole.width) {
    map = {canvas.workspace.document.timeline, whole.width, MapStrips(canvas.timeline, whole)};
  }
  const float strip =
      area.height() / static_cast<float>(std::max<std::size_t>(map.strips.size(), 1));
  for (std::size_t i = 0; i < map.strips.size(); ++i) {
    const float top = area.min.y + strip * static_cast<float>(i);
    for (const Box& box : map.strips[i]) {
      list->AddRectFilled({area.min.x + box.x0, top + (1 - box.top) * (strip - 1)},
                          {area.min.x + box.x1, top + (1 - box.bottom) * (strip - 1)},
                          Ink(SpanColour(box.stage, box.colour, ui.theme), 0.75));
    }
  }
  const auto x = [&](std::int64_t at) {
    return std::clamp(area.min.x + static_cast<float>(whole.X(at)), area.min.x, area.max.x);
  };
  if (canvas.workspace.timeline.selection) {
    const TimeRange selection = *canvas.workspace.timeline.selection;
    list->AddRectFilled({x(selection.from), area.min.y},
                        {std::max(x(selection.to), x(selection.from) + 1), area.max.y},
                        Ink(p.accent, 0.4));
  }
  for (const Note& note : canvas.workspace.timeline.notes) {
    list->AddRectFilled({x(note.range.from), area.min.y},
                        {std::max(x(note.range.to), x(note.range.from) + 2), area.max.y},
                        Ink(p.warn, 0.4));
  }
  DrawMapHits(canvas, area, whole);
  const float left = x(canvas.window.from);
  const float right = std::max(x(canvas.window.to), left + ui.Px(3));
  list->AddRectFilled(area.min, {left, area.max.y}, Ink(p.background, 0.6));
  list->AddRectFilled({right, area.min.y}, area.max, Ink(p.background, 0.6));
  list->AddRect({left, area.min.y}, {right, area.max.y}, Ink(p.text, 0.8), ui.Px(3), 0,
                ui.Px(1.5F));
  ImGui::SetCursorScreenPos(area.min);
  ImGui::InvisibleButton("##minimap", {area.width(), area.height()});
  DragState& drag = canvas.workspace.drag;
  TimeView& view = canvas.workspace.timeline.view;
  if (ImGui::IsItemActive()) {
    drag.kind = DragKind::kMiniMap;
    const std::int64_t at = whole.At(static_cast<double>(ImGui::GetIO().MousePos.x - area.min.x));
    const TimeRange visible = view.range();
    view.Show({at - visible.length() / 2, at + visible.length() / 2});
  } else if (drag.kind == DragKind::kMiniMap) {
    drag.kind = DragKind::kNone;
  }
  if (ImGui::IsItemHovered() && ImGui::GetIO().MouseWheel != 0) {
    const TimeRange visible = view.range();
    const double at = static_cast<double>(
        whole.At(static_cast<double>(ImGui::GetIO().MousePos.x - area.min.x)) - visible.from);
    view.Zoom(std::clamp(at / static_cast<double>(visible.length()), 0.0, 1.0),
              std::pow(0.8, ImGui::GetIO().MouseWheel));
  }
}

}  // namespace penstock::gui
