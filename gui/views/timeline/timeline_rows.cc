// SPDX-License-Identifier: Apache-2.0
//
// Draws the rows of the timeline: spans, counters, names.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "gui/model/timeline/ticks.h"
#include "gui/views/timeline/timeline_canvas.h"

namespace penstock::gui {
namespace {

using traces::StageId;

struct Colours {
  std::array<ImU32, wire::kStageCount> stage;
  std::array<ImU32, kNamedColours> named;
};

Colours ColoursOf(const Ui& ui) {
  Colours colours;
  for (std::size_t s = 0; s < colours.stage.size(); ++s) {
    colours.stage[s] = ui.Stage(static_cast<StageId>(s));
  }
  for (std::uint8_t c = 0; c < kNamedColours; ++c) colours.named[c] = Ink(NamedColour(c, ui.theme));
  return colours;
}

void DrawBoxes(const TimelineCanvas& canvas, const Row& row, const Level& level,
               const Colours& colours, std::vector<Box>& boxes) {
  const Ui& ui = canvas.ui;
  ImDrawList* list = ImGui::GetWindowDrawList();
  boxes.clear();
  LayOut(level, canvas.timeline.length, canvas.window, boxes);
  const float top = canvas.Top(row);
  const float height = ui.Px(row.height) - 1;
  const float left = canvas.plot.min.x;
  const ImVec2 white =
      ImGui::GetDrawListSharedData() != nullptr ? ImGui::GetFontTexUvWhitePixel() : ImVec2(0, 0);
  const TimelineState& state = canvas.workspace.timeline;
  // The rectangles of a row are drawn in batches of kMost: a reservation takes at most some 64,000
  // indices.
  constexpr std::size_t kMost = 8'000;
  for (std::size_t begin = 0; begin < boxes.size(); begin += kMost) {
    const std::size_t end = std::min(boxes.size(), begin + kMost);
    const auto count = static_cast<int>(end - begin);
    list->PrimReserve(6 * count, 4 * count);
    int unused = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Box& box = boxes[i];
      if (!state.Shows(box.stage)) {
        ++unused;
        continue;
      }
      const float x0 = left + box.x0;
      // Leaves a gap after each single span that is wide enough. The boxes of a density have no
      // such gap.
      const bool gap = box.span != Box::kMany && box.x1 - box.x0 > 3;
      const float x1 = left + box.x1 - (gap ? 1.0F : 0.0F);
      const ImVec2 a{x0, top + (1 - box.top) * height};
      const ImVec2 b{std::max(x1, x0 + 0.5F), top + (1 - box.bottom) * height};
      const ImU32 colour = box.colour < kNamedColours ? colours.named[box.colour]
                                                      : colours.stage[StageIndex(box.stage)];
      list->PrimRectUV(a, b, white, white, colour);
    }
    list->PrimUnreserve(6 * unused, 4 * unused);
  }
}

// Shortens "fetch 12" to "12"; any other label stays.
std::string ShortLabel(const std::string& label) {
  const std::size_t space = label.rfind(' ');
  if (space == std::string::npos || space + 1 == label.size()) return label;
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool number =
      std::all_of(label.begin() + static_cast<std::ptrdiff_t>(space) + 1, label.end(), digit);
  return number ? label.substr(space + 1) : label;
}

void DrawBoxLabels(const TimelineCanvas& canvas, const Row& row, const std::vector<Box>& boxes) {
  const Ui& ui = canvas.ui;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float pad = ui.Px(4);
  const float y = canvas.Top(row) + (ui.Px(row.height) - 1 - FontPixels(ui.small)) / 2;
  for (const Box& box : boxes) {
    if (box.span == Box::kMany || box.x1 - box.x0 < ui.Px(22)) continue;
    if (!canvas.workspace.timeline.Shows(box.stage)) continue;
    const std::string label =
        SpanLabel(ui, canvas.workspace, SpanRef{row.lane, row.level, box.span});
    const float room = box.x1 - box.x0 - 2 * pad;
    // If the label does not fit, its number alone is drawn. If that does not fit either, the
    // beginning of the label is drawn, provided that there is room for a readable part.
    std::string text = label;
    if (TextWidth(ui.small, text) > room) text = ShortLabel(label);
    if (TextWidth(ui.small, text) > room) {
      if (room < ui.Px(44)) continue;
      text = Elided(ui.small, label, room);
    }
    DrawText(list, ui.small, {canvas.plot.min.x + box.x0 + pad, y},
             Ink(InkOn(SpanColour(box.stage, box.colour, ui.theme))), text);
  }
}

StageId ColourOf(CounterKind kind) {
  switch (kind) {
    case CounterKind::kCpu:
      return StageId::kAugment;
    case CounterKind::kMemory:
    case CounterKind::kMapped:
      return StageId::kCollate;
    case CounterKind::kGpuBusy:
      return StageId::kKernel;
    case CounterKind::kDisk:
      return StageId::kRead;
    case CounterKind::kReadyBatches:
      break;
  }
  return StageId::kPut;
}

void DrawCounter(const TimelineCanvas& canvas, const Row& row) {
  const Ui& ui = canvas.ui;
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const CounterTrack& track = canvas.workspace.document.analysis->counters[row.counter];
  const float top = canvas.Top(row) + ui.Px(3);
  const float bottom = canvas.Top(row) + ui.Px(row.height) - ui.Px(2);
  const auto columns = static_cast<std::size_t>(std::max(1.0F, canvas.plot.width()));
  const std::vector<float> values = Resample(track, canvas.window.from, canvas.window.to, columns);
  const Rgb colour = StageColour(ColourOf(track.kind), ui.theme);
  const double most = std::max(track.most, 1e-12);
  list->AddLine({canvas.plot.min.x, bottom}, {canvas.plot.max.x, bottom}, Ink(p.line));
  // Neighbouring columns with the same value become one rectangle.
  for (std::size_t c = 0; c < values.size();) {
    std::size_t end = c + 1;
    while (end < values.size() && values[end] == values[c]) ++end;
    if (values[c] >= 0) {
      const float y = bottom - static_cast<float>(values[c] / most) * (bottom - top);
      const float x0 = canvas.plot.min.x + static_cast<float>(c);
      const float x1 = canvas.plot.min.x + static_cast<float>(end);
      list->AddRectFilled({x0, y}, {x1, bottom}, Ink(colour, 0.35));
      list->AddRectFilled({x0, y}, {x1, std::min(y + ui.Px(1.5F), bottom)}, Ink(colour));
    }
    c = end;
  }
}

void DrawGroupHead(const TimelineCanvas& canvas, const Row& row, const Colours& colours,
                   std::vector<Box>& boxes) {
  const Ui& ui = canvas.ui;
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float top = canvas.Top(row);
  const float height = ui.Px(row.height);
  const bool folded = canvas.workspace.timeline.folded.contains(row.group);
  list->AddRectFilled({canvas.labels.min.x, top}, {canvas.plot.max.x, top + height - ui.Px(2)},
                      Ink(p.raised, 0.55));
  if (folded && row.group != Row::kAllGroups && !canvas.timeline.lanes[row.lane].levels.empty()) {
    Row thin = row;
    thin.top += 4;
    thin.height -= 9;
    DrawBoxes(canvas, thin, canvas.timeline.lanes[row.lane].levels[0], colours, boxes);
  }
}

// Draws a scroll bar at the right edge if some rows are out of sight.
void DrawScrollBar(const TimelineCanvas& canvas) {
  const auto thumb =
      ThumbOf(canvas.RowsHeight(), canvas.RowsRoom(), canvas.workspace.timeline.scroll);
  if (!thumb) return;
  const Ui& ui = canvas.ui;
  const float top = canvas.RowsTop();
  const float height = canvas.plot.max.y - top;
  const float x = canvas.plot.max.x - ui.Px(2);
  ImGui::GetWindowDrawList()->AddRectFilled({x - ui.Px(5), top + thumb->from * height},
                                            {x, top + thumb->to * height},
                                            Ink(ui.palette().dim, 0.7), ui.Px(2.5F));
}

}  // namespace

void TimelineCanvas::Place(std::span<const CounterTrack> counters) {
  const TimeRange now = workspace.timeline.view.range();
  window.from = now.from;
  window.to = now.to;
  rows = LayOutRows(timeline, counters, workspace.timeline);
  places = RowMap(timeline, rows);
  const float before = pinned;
  pinned = std::min(ui.Px(PinnedHeight(rows)), std::floor(plot.height() * 0.6F));
  // If a row has been pinned, the scroll position changes, so that the rows under the pointer stay.
  float& scroll = workspace.timeline.scroll;
  if (placed) scroll = std::max(0.0F, scroll + (pinned - before) / ui.scale);
  placed = true;
}

const Row* TimelineCanvas::RowAt(float y) const {
  for (const Row& row : rows) {
    if (row.pinned ? y >= RowsTop() : y < RowsTop()) continue;
    if (y >= Top(row) && y < Top(row) + ui.Px(row.height)) return &row;
  }
  return nullptr;
}

float TimelineCanvas::RowsHeight() const {
  return rows.empty() ? 0 : rows.back().top + rows.back().height + 10;
}

void DrawRows(const TimelineCanvas& canvas) {
  const Ui& ui = canvas.ui;
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->PushClipRect({canvas.labels.min.x, canvas.plot.min.y}, canvas.plot.max, true);
  const Colours colours = ColoursOf(ui);
  std::vector<Box> boxes;
  // The times outside the trace are shaded.
  const float begin = canvas.X(0);
  const float end = canvas.X(canvas.timeline.length);
  if (begin > canvas.plot.min.x) {
    list->AddRectFilled(canvas.plot.min, {begin, canvas.plot.max.y}, Ink(p.background, 0.6));
  }
  if (end < canvas.plot.max.x) {
    list->AddRectFilled({end, canvas.plot.min.y}, canvas.plot.max, Ink(p.background, 0.6));
  }
  const auto draw = [&](const Row& row) {
    if (!canvas.Visible(row)) return;
    const float top = row.pinned ? canvas.plot.min.y : canvas.RowsTop();
    const float bottom = row.pinned ? canvas.RowsTop() : canvas.plot.max.y;
    list->PushClipRect({canvas.labels.min.x, top}, {canvas.plot.max.x, bottom}, true);
    list->PushClipRect({canvas.plot.min.x, top}, {canvas.plot.max.x, bottom}, true);
    if (row.kind == RowKind::kLevel) {
      DrawBoxes(canvas, row, canvas.timeline.lanes[row.lane].levels[row.level], colours, boxes);
      DrawBoxLabels(canvas, row, boxes);
    } else if (row.kind == RowKind::kCounter) {
      DrawCounter(canvas, row);
    }
    list->PopClipRect();
    if (row.kind == RowKind::kGroup) {
      DrawGroupHead(canvas, row, colours, boxes);
      DrawGroupLabel(canvas, row);
    } else {
      DrawRowLabel(canvas, row);
    }
    list->PopClipRect();
  };
  for (const Row& row : canvas.rows) {
    if (!row.pinned) draw(row);
  }
  if (canvas.pinned > 0) {
    list->AddRectFilled({canvas.labels.min.x, canvas.plot.min.y},
                        {canvas.plot.max.x, canvas.RowsTop()}, Ink(p.raised, 0.45));
    for (const Row& row : canvas.rows) {
      if (row.pinned) draw(row);
    }
    list->AddLine({canvas.labels.min.x, canvas.RowsTop()}, {canvas.plot.max.x, canvas.RowsTop()},
                  Ink(p.accent, 0.7), ui.Px(1.5F));
  }
  list->PopClipRect();
  DrawScrollBar(canvas);
  list->AddLine({canvas.plot.min.x, canvas.plot.min.y}, {canvas.plot.min.x, canvas.plot.max.y},
                Ink(p.line));
}

}  // namespace penstock::gui
