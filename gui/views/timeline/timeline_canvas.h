// SPDX-License-Identifier: Apache-2.0
//
// The places of the timeline's rows and times on the screen, for one frame, and the functions that
// draw the timeline. The parts of the view (rows, overlays, input, panels) share a canvas.
#pragma once

#include <functional>
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
  float pinned = 0;     // height of the pinned rows at the top of the plot, in pixels
  bool placed = false;  // Place() was called before

  // Places the rows by the view and the scroll position. Call it again after these have changed.
  void Place(std::span<const CounterTrack> counters);
  // The upper edge of the rows below the pinned ones.
  [[nodiscard]] float RowsTop() const { return plot.min.y + pinned; }
  // The height of the plot below the pinned rows, in logical pixels.
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
  // The row of a span; if its group is folded, the row of the group.
  [[nodiscard]] const Row* RowOf(SpanRef span) const { return places.Of(span); }
  [[nodiscard]] const Row* RowAt(float y) const;
  // The height of all rows that are not pinned, in logical pixels.
  [[nodiscard]] float RowsHeight() const;
};

// The pin for a row; nullopt for the head of a group.
[[nodiscard]] std::optional<Pin> PinOf(const Row& row);
// The area at the right of a row's name where its pin is drawn and clicked.
[[nodiscard]] Area PinArea(const TimelineCanvas& canvas, const Row& row);

// The text on a span: the word for its stage, with its batch, sample or file; or its own name.
[[nodiscard]] std::string SpanLabel(const Ui& ui, const Workspace& workspace, SpanRef span);
// The name of a process, with what tells it apart from others of the same name.
[[nodiscard]] std::string GroupLabel(const Ui& ui, const Workspace& workspace, const Group& group);
// The width of the column of names, in pixels: the names of processes, threads and counters fit
// into it, as far as the rows keep most of `width`.
[[nodiscard]] float LabelsWidth(const Ui& ui, const Workspace& workspace, float width);
// "main", "GPU 0 stream 7", the thread's role in the loader, its own name, or "thread 123".
[[nodiscard]] std::string LaneLabel(const Ui& ui, const Lane& lane);

// Draw the names of rows in their column.
void DrawGroupLabel(const TimelineCanvas& canvas, const Row& row);
void DrawRowLabel(const TimelineCanvas& canvas, const Row& row);
// Draws background, boxes, counters and labels of all visible rows.
void DrawRows(const TimelineCanvas& canvas);
void DrawAxis(const TimelineCanvas& canvas, Area area);
// Draws the legend, which is also the filter: a click hides a stage or shows it again.
void DrawLegend(const Ui& ui, Workspace& workspace, float left, float right, float y);
// Draws a small map of the whole trace (MapStrips()), with the visible interval marked. Clicks and
// drags move this interval, and the wheel zooms it.
void DrawMiniMap(const TimelineCanvas& canvas, Area area);
// Draws the selection, the arrows between the spans of the chosen span's batch, the search hits,
// frames around the hovered and the chosen span, and a line at the pointer.
void DrawOverlays(const TimelineCanvas& canvas, std::optional<SpanRef> hovered);
// Draw a card beside the pointer.
void DrawSpanCard(const TimelineCanvas& canvas, SpanRef span);
void DrawCounterCard(const TimelineCanvas& canvas, const Row& row);
// Handles keys and mouse, and keeps the scroll in its limits. Returns the span under the pointer,
// none during a drag.
[[nodiscard]] std::optional<SpanRef> HandleInput(const TimelineCanvas& canvas);
// Draws the list of bookmarks and notes over the right part of the rows.
void DrawMarks(const TimelineCanvas& canvas, Area area);
inline constexpr double kExperimentStrip = 0.8;  // opacity of the accent colour
// Draws the windows of experiments as a strip on the axis and a shade behind the rows. A card says
// what the window under the pointer slowed down. DrawExperimentNames() says it in the plot, where a
// window is wide enough.
void DrawExperiments(const TimelineCanvas& canvas, Area axis);
void DrawExperimentNames(const TimelineCanvas& canvas);
// Draws a flag for each bookmark, and a band for each note, on the axis.
void DrawMarkFlags(const TimelineCanvas& canvas, Area axis);
// Draws the menu of the right button while it is open.
void DrawMenu(const TimelineCanvas& canvas);
// One line of that menu.
struct MenuLine {
  std::string label;
  std::string keys;  // keys that do the same; "" none
  std::function<void()> run;
  bool enabled = true;
};
// A part of the menu, with its heading.
struct MenuPart {
  std::string heading;
  std::vector<MenuLine> lines;
};
// The parts of workspace.menu: its span, the selection, its row. The lines refer to the canvas.
[[nodiscard]] std::vector<MenuPart> MenuOf(const TimelineCanvas& canvas);
// Below the rows: draws the time of each stage in the selection, or in the visible window.
void DrawSelectionPanel(const TimelineCanvas& canvas, Area area);
void DrawWindowPanel(const TimelineCanvas& canvas, Area area);
// The height, in pixels, that these panels need for a table of so many stages: of all rows, or of
// as many whole rows as fit into `most`.
[[nodiscard]] float TableHeight(const Ui& ui, std::size_t stages, float most);
// Draws the chosen span below the rows: its facts, what is around and inside it, where the time of
// its sample and of its batch goes.
void DrawSpanPanel(const TimelineCanvas& canvas, Area area);
// Draws the table that the search asks for. Requires: there are spans.
void DrawGroupsPanel(const TimelineCanvas& canvas, Area area);
// Fills a swatch with the colour of a stage; if its spans are coloured by name, with stripes in the
// colours of the names that take most time.
void FillSwatch(const Ui& ui, const Timeline& timeline, traces::StageId stage, Area area);
// Beside a title at `at`: of a stage, and of a span in its own colour.
void DrawSwatch(const Ui& ui, const Timeline& timeline, traces::StageId stage, ImVec2 at);
void DrawSwatch(const Ui& ui, const Timeline& timeline, SpanRef span, ImVec2 at);
// The word for the stage, and the name of the span if it has one.
[[nodiscard]] std::string SpanTitle(const Ui& ui, const Workspace& workspace, SpanRef span);
// A note if a span is unusual, such as unfinished; "" if it is not.
[[nodiscard]] std::string SpanNote(const Ui& ui, const SpanDetail& detail);

// One fact about a span: its name and its value.
struct SpanFact {
  Text name{};
  std::string value;
};
[[nodiscard]] std::vector<SpanFact> FactsOf(const TimelineCanvas& canvas, SpanRef span);

}  // namespace penstock::gui
