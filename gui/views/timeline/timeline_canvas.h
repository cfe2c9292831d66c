// SPDX-License-Identifier: Apache-2.0
//
// What one frame of the timeline knows: where rows and times are on the screen. The parts of the
// view (rows, overlays, input, panel) share it; it lives for one frame.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gui/model/words/stage_words.h"
#include "gui/views/workspace.h"

namespace penstock::gui {

struct TimelineCanvas {
  const Ui& ui;
  Workspace& workspace;
  const Timeline& timeline;
  std::vector<Row> rows;  // logical pixels, from the top of all rows
  Area labels;            // left of the plot
  Area plot;
  Window window;
  RowMap places{timeline, rows};
  float pinned = 0;  // pixels that pinned rows take at the top of the plot
  bool placed = false;

  // What rows have to be drawn anew after the view has moved.
  void Place(std::span<const CounterTrack> counters);
  // Below the pinned rows.
  [[nodiscard]] float RowsTop() const { return plot.min.y + pinned; }
  // Logical pixels.
  [[nodiscard]] float RowsRoom() const { return (plot.max.y - RowsTop()) / ui.scale; }
  [[nodiscard]] float Top(const Row& row) const {
    if (row.pinned) return plot.min.y + ui.Px(row.top);
    return RowsTop() + ui.Px(row.top - workspace.timeline.scroll);
  }
  [[nodiscard]] bool Visible(const Row& row) const {
    const float top = Top(row);
    return top < (row.pinned ? RowsTop() : plot.max.y) &&
           top + ui.Px(row.height) > (row.pinned ? plot.min.y : RowsTop());
  }
  [[nodiscard]] float X(std::int64_t at) const {
    return plot.min.x + static_cast<float>(window.X(at));
  }
  [[nodiscard]] std::int64_t At(float x) const {
    return window.At(static_cast<double>(x - plot.min.x));
  }
  // The row of a span; that of its group where it is folded.
  [[nodiscard]] const Row* RowOf(SpanRef span) const { return places.Of(span); }
  [[nodiscard]] const Row* RowAt(float y) const;
  [[nodiscard]] float RowsHeight() const;  // logical
};

// What a row can be pinned as; nullopt for the head of a group.
[[nodiscard]] std::optional<Pin> PinOf(const Row& row);
// Where the pin of a row is drawn and clicked, right in its column of names.
[[nodiscard]] Area PinArea(const TimelineCanvas& canvas, const Row& row);

// The words on a span: its name, its batch or its file.
[[nodiscard]] std::string SpanLabel(const Ui& ui, const Workspace& workspace, SpanRef span);
[[nodiscard]] std::string GroupLabel(const Ui& ui, const Group& group, bool ranks);
// "main", "GPU 0 stream 7", the thread's own name or "thread 123".
[[nodiscard]] std::string LaneLabel(const Ui& ui, const Lane& lane);
[[nodiscard]] std::string CounterText(const CounterTrack& track, double value);
[[nodiscard]] Text CounterName(CounterKind kind);

// In the column of names.
void DrawGroupLabel(const TimelineCanvas& canvas, const Row& row);
void DrawRowLabel(const TimelineCanvas& canvas, const Row& row);
// Background, boxes, counters and labels of all visible rows.
void DrawRows(const TimelineCanvas& canvas);
void DrawAxis(const TimelineCanvas& canvas, Area area);
// The whole trace in one strip, with the visible part marked; drags move it.
void DrawMiniMap(const TimelineCanvas& canvas, Area area);
// Selection, search hits, the way of a batch, the pointer's time.
void DrawOverlays(const TimelineCanvas& canvas, std::optional<SpanRef> hovered);
// The card beside the pointer.
void DrawSpanCard(const TimelineCanvas& canvas, SpanRef span);
void DrawCounterCard(const TimelineCanvas& canvas, const Row& row);
// Keys and mouse. Returns what the pointer is on.
[[nodiscard]] std::optional<SpanRef> HandleInput(const TimelineCanvas& canvas);
// Bookmarks and notes, over the right of the rows.
void DrawMarks(const TimelineCanvas& canvas, Area area);
// Flags and bands of bookmarks and notes on the axis.
void DrawMarkFlags(const TimelineCanvas& canvas, Area axis);
// Below the rows: the selection's stages, or the chosen span.
void DrawSelectionPanel(const TimelineCanvas& canvas, Area area);
void DrawSpanPanel(const TimelineCanvas& canvas, Area area);

// One line of a span's facts: what, and how much.
struct SpanFact {
  Text name{};
  std::string value;
};
[[nodiscard]] std::vector<SpanFact> FactsOf(const TimelineCanvas& canvas, SpanRef span);

}  // namespace penstock::gui
