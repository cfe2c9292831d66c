// SPDX-License-Identifier: Apache-2.0
//
// What one frame of the timeline knows: where rows and times are on the screen. The parts of the
// view (rows, overlays, input, panel) share it; it lives for one frame.
#pragma once

#include <optional>
#include <string>
#include <vector>

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

  [[nodiscard]] float Top(const Row& row) const {
    return plot.min.y + ui.Px(row.top - workspace.timeline.scroll);
  }
  [[nodiscard]] bool Visible(const Row& row) const {
    const float top = Top(row);
    return top < plot.max.y && top + ui.Px(row.height) > plot.min.y;
  }
  [[nodiscard]] float X(std::int64_t at) const {
    return plot.min.x + static_cast<float>(window.X(at));
  }
  [[nodiscard]] std::int64_t At(float x) const {
    return window.At(static_cast<double>(x - plot.min.x));
  }
  // The row of a span; that of its group where it is folded. nullptr: filtered away.
  [[nodiscard]] const Row* RowOf(SpanRef span) const;
  [[nodiscard]] const Row* RowAt(float y) const;
  [[nodiscard]] float RowsHeight() const;  // logical
};

// The words on a span: its name, its batch or its file.
[[nodiscard]] std::string SpanLabel(const Workspace& workspace, SpanRef span);
[[nodiscard]] std::string GroupLabel(const Ui& ui, const Group& group, bool ranks);
[[nodiscard]] std::string CounterText(const CounterTrack& track, double value);
[[nodiscard]] Text CounterName(CounterKind kind);

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
