// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/density.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "gui/model/timeline/name_colours.h"

namespace penstock::gui {
namespace {

using traces::StageId;

constexpr std::size_t kMostDensityCells = 65'536;
constexpr std::size_t kFewSpans = 2'048;
constexpr std::size_t kFewestCells = 256;
constexpr int kSteps = 12;            // possible heights of a share in a column
constexpr double kLeastCover = 1e-3;  // columns that a span without length takes

constexpr ColourCell kNoColours = {kColourOfStage, kColourOfStage};

using Shares = std::array<float, wire::kStageCount>;

std::size_t StageIndex(std::uint64_t shape) {
  return shape & 0xff;
}

std::vector<Cell> BaseCells(const Level& level, std::size_t count, std::int64_t trace_length) {
  traces::CellWriter writer(count, trace_length);
  for (std::size_t i = 0; i < level.size(); ++i) {
    writer.Add(level.start[i], level.end(i), level.stage(i));
  }
  return writer.Take();
}

// Takes coverage from left to right and writes columns of stacked boxes.
class ColumnPen {
 public:
  ColumnPen(const Window& window, std::vector<Box>& out)
      : column_(window.column), width_(window.width), out_(out) {}

  // Adds that the stages of `cell` cover [x0, x1), each with its share. Calls must go from left to
  // right.
  void Cover(double x0, double x1, const Cell& cell, ColourCell colours) {
    x0 = std::max({x0, 0.0, static_cast<double>(place_) * column_});
    x1 = std::min(x1, width_);
    while (x0 < x1) {
      const auto place = static_cast<std::int64_t>(x0 / column_);
      if (place > place_) Move(place);
      const double until = std::min(x1, static_cast<double>(place_ + 1) * column_);
      if (until <= x0) break;
      const double part = (until - x0) / column_ / 255;
      for (std::size_t k = 0; k < cell.stage.size() && cell.share[k] > 0; ++k) {
        const auto share = static_cast<float>(part * cell.share[k]);
        shares_[cell.stage[k]] += share;
        used_ |= 1u << cell.stage[k];
        const std::size_t named = PlaceOfNamed(static_cast<StageId>(cell.stage[k]));
        if (named >= colours.size() || colours[named] >= kNamedColours) continue;
        named_[named][colours[named]] += share;
      }
      x0 = until;
    }
  }

  // Writes the pending columns. Must be called at the end, and before other code writes a box.
  void Flush() {
    const std::int64_t place = place_;
    Move(place);
    Emit();
  }

 private:
  struct Stack {
    std::uint32_t used = 0;
    std::array<std::uint8_t, wire::kStageCount> height{};
    ColourCell colour = kNoColours;
    bool operator==(const Stack&) const = default;
  };

  void Move(std::int64_t place) {
    if (used_ != 0) {
      Stack stack;
      stack.used = used_;
      float sum = 0;
      long bottom = 0;
      for (std::uint32_t rest = used_; rest != 0; rest &= rest - 1) {
        const auto s = static_cast<std::size_t>(std::countr_zero(rest));
        sum += shares_[s];
        shares_[s] = 0;
        // Each share is at least one step high, so that it stays visible.
        const long top = std::max(bottom + 1, std::lround(std::min(sum, 1.0F) * kSteps));
        stack.height[s] = static_cast<std::uint8_t>(top - bottom);
        bottom = top;
        const std::size_t named = PlaceOfNamed(static_cast<StageId>(s));
        if (named >= stack.colour.size()) continue;
        stack.colour[named] = LargestOf(named_[named]);
        named_[named].fill(0);
      }
      const bool follows = place_ == last_ + 1 && stack == stack_;
      if (!follows) {
        Emit();
        first_ = place_;
        stack_ = stack;
      }
      last_ = place_;
      used_ = 0;
    }
    place_ = place;
  }

  void Emit() {
    if (stack_.used == 0) return;
    const auto x0 = static_cast<float>(static_cast<double>(first_) * column_);
    const auto x1 = static_cast<float>(std::min(static_cast<double>(last_ + 1) * column_, width_));
    int bottom = 0;
    for (std::uint32_t rest = stack_.used; rest != 0; rest &= rest - 1) {
      const auto s = static_cast<std::size_t>(std::countr_zero(rest));
      const int top = std::min(kSteps, bottom + stack_.height[s]);
      if (top > bottom) {
        const std::size_t named = PlaceOfNamed(static_cast<StageId>(s));
        out_.push_back({x0, x1, static_cast<float>(bottom) / kSteps,
                        static_cast<float>(top) / kSteps, static_cast<StageId>(s), Box::kMany,
                        named < stack_.colour.size() ? stack_.colour[named] : kColourOfStage});
      }
      bottom = top;
    }
    stack_ = Stack{};
  }

  double column_;
  double width_;
  std::vector<Box>& out_;
  Shares shares_{};
  std::array<ColourParts, ColourCell{}.size()> named_{};  // shares of spans with a colour
  std::uint32_t used_ = 0;
  std::int64_t place_ = -1;
  std::int64_t first_ = 0;
  std::int64_t last_ = -2;
  Stack stack_;
};

void LayOutSpans(const Level& level, const Window& window, std::size_t first, std::size_t last,
                 std::vector<Box>& out) {
  ColumnPen pen(window, out);
  const double scale = window.pixels_per_ns();
  const double narrow = 2 * window.column;
  for (std::size_t i = first; i < last; ++i) {
    const double x0 = static_cast<double>(level.start[i] - window.from) * scale;
    const double x1 = static_cast<double>(level.end(i) - window.from) * scale;
    if (x1 - x0 < narrow) {
      // A span without length gets a trace of the column: the pen draws each stage of a column at
      // least one step high. The minimum is for the column, since many short spans may share it.
      const Cell cell{{static_cast<std::uint8_t>(StageIndex(level.shape[i]))}, {255}};
      const std::uint8_t colour = level.detail[i].colour;
      pen.Cover(x0, std::max(x1, x0 + kLeastCover * window.column), cell, {colour, colour});
      continue;
    }
    pen.Flush();
    out.push_back({static_cast<float>(std::max(x0, 0.0)),
                   static_cast<float>(std::min(x1, window.width)), 0, 1, level.stage(i),
                   static_cast<std::uint32_t>(i), level.detail[i].colour});
  }
  pen.Flush();
}

void LayOutCells(const Level& level, std::size_t which, std::int64_t trace_length,
                 const Window& window, std::vector<Box>& out) {
  const std::vector<Cell>& cells = level.density[which];
  ColumnPen pen(window, out);
  const double per_cell = static_cast<double>(trace_length) / static_cast<double>(cells.size());
  const double scale = window.pixels_per_ns();
  const auto place = [&](std::int64_t at) {
    const double cell = static_cast<double>(at) / per_cell;
    return static_cast<std::size_t>(std::clamp(cell, 0.0, static_cast<double>(cells.size())));
  };
  const std::size_t last = std::min(cells.size(), place(window.to) + 1);
  for (std::size_t c = place(window.from); c < last; ++c) {
    const Cell& cell = cells[c];
    if (cell.share[0] == 0) continue;
    const double x0 =
        (static_cast<double>(c) * per_cell - static_cast<double>(window.from)) * scale;
    pen.Cover(x0, x0 + per_cell * scale, cell,
              level.colours.empty() ? kNoColours : level.colours[which][c]);
  }
  pen.Flush();
}

}  // namespace

void BuildDensity(Level& level, std::int64_t trace_length) {
  level.density.clear();
  if (level.size() < kFewSpans) return;
  const std::size_t count = std::min(kMostDensityCells, std::bit_floor(level.size()));
  FillDensity(level, BaseCells(level, count, trace_length));
}

void FillDensity(Level& level, std::vector<Cell> cells) {
  level.density.clear();
  level.density.push_back(std::move(cells));
  while (level.density.back().size() > kFewestCells) {
    const std::vector<Cell>& below = level.density.back();
    std::vector<Cell> above(below.size() / 2);
    for (std::size_t i = 0; i < above.size(); ++i) {
      above[i] = traces::MergedCell(below[2 * i], below[2 * i + 1]);
    }
    level.density.push_back(std::move(above));
  }
}

void LayOut(const Level& level, std::int64_t trace_length, const Window& window,
            std::vector<Box>& out) {
  // A preview has no spans, only cells, which are drawn however wide they are.
  const bool preview = level.size() == 0 && !level.density.empty();
  const std::size_t first = level.FirstEndingAfter(window.from);
  const std::size_t last = level.FirstStartingAt(window.to);
  if (first >= last && !preview) return;
  const double columns = std::max(1.0, window.width / window.column);
  const bool few = static_cast<double>(last - first) <= 4 * columns;
  const double cells_per_column =
      static_cast<double>(window.to - window.from) / columns *
      static_cast<double>(level.density.empty() ? 0 : level.density[0].size()) /
      static_cast<double>(trace_length);
  if (!preview && (few || cells_per_column < 1)) {
    LayOutSpans(level, window, first, last, out);
    return;
  }
  // Takes the coarsest cells that are no wider than a column.
  std::size_t at = 0;
  double cells = cells_per_column;
  while (at + 1 < level.density.size() && cells >= 2) {
    ++at;
    cells /= 2;
  }
  LayOutCells(level, at, trace_length, window, out);
}

}  // namespace penstock::gui
