// SPDX-License-Identifier: Apache-2.0
//
// Computes the boxes, in pixels, that draw a level, also where spans are narrower than a pixel. The
// cost depends on the width of the window, not on the number of spans. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "gui/model/timeline/timeline.h"

namespace penstock::gui {

// Fills level.density. Cost: O(spans + cells). The finest vector has at most 65,536 cells of 6
// bytes; all other vectors together have as many cells.
void BuildDensity(Level& level, std::int64_t trace_length);
// Fills level.density from its finest cells. Each further vector has half as many.
void FillDensity(Level& level, std::vector<Cell> cells);

// The visible part of the time, and its width.
struct Window {
  std::int64_t from = 0;
  std::int64_t to = 1;
  double width = 1;   // pixels
  double column = 1;  // pixels; narrower spans share a column

  [[nodiscard]] double pixels_per_ns() const {
    return width / static_cast<double>(to > from ? to - from : 1);
  }
  [[nodiscard]] double X(std::int64_t at) const {
    return static_cast<double>(at - from) * pixels_per_ns();
  }
  [[nodiscard]] std::int64_t At(double x) const {
    return from + static_cast<std::int64_t>(x / width * static_cast<double>(to - from));
  }
};

// A rectangle of one colour. Units: x in pixels from the window's left; y as a fraction of the
// height of the level, from its bottom.
struct Box {
  static constexpr std::uint32_t kMany = 0xffffffffu;
  float x0 = 0;
  float x1 = 0;
  float bottom = 0;
  float top = 1;
  traces::StageId stage = traces::StageId::kNone;
  std::uint32_t span = kMany;  // index into the level, if it is a single span
  // As SpanDetail::colour; of several spans that of the names with most time.
  std::uint8_t colour = kColourOfStage;
};

// Appends the boxes of `level`, from left to right.
//
// Where a column holds several spans, the shares of their stages are stacked; equal neighbouring
// columns become one box. Spans that are coloured by name get the colour of those that take most
// time in the column. Cost: O(width / column), or O(visible spans) if those are fewer than four
// per column.
void LayOut(const Level& level, std::int64_t trace_length, const Window& window,
            std::vector<Box>& out);

}  // namespace penstock::gui
