// SPDX-License-Identifier: Apache-2.0
//
// The layout of spans in the timeline: levels on which spans do not overlap, and cells that show
// which stages cover a part of a level, for spans that are narrower than a pixel. The preview in a
// packed trace and the timeline of the dashboard are both made with this layout, so they look the
// same. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "traces/event.h"

namespace penstock::traces {

// A part of a level: how much of it each of its three largest stages covers, in 1/255. A share of 0
// ends the list.
struct DensityCell {
  std::array<std::uint8_t, 3> stage{};
  std::array<std::uint8_t, 3> share{};
  constexpr bool operator==(const DensityCell&) const = default;
};

// The cell that covers two neighbouring cells.
[[nodiscard]] DensityCell MergedCell(const DensityCell& a, const DensityCell& b);

// The index of a stage in tables of wire::kStageCount; stages of later versions share the last one.
[[nodiscard]] constexpr std::size_t StageIndex(StageId stage) {
  return static_cast<std::size_t>(stage) < wire::kStageCount ? static_cast<std::size_t>(stage)
                                                             : wire::kStageCount - 1;
}

// Turns the spans of one level into cells. Cost: O(spans + cells).
class CellWriter {
 public:
  // Requires: count >= 1, length >= 1; the cells divide [0, length) into equal parts.
  CellWriter(std::size_t count, std::int64_t length);

  // Requires: ascending start, no overlap.
  void Add(std::int64_t start, std::int64_t end, StageId stage);
  [[nodiscard]] std::vector<DensityCell> Take();

 private:
  void Flush();

  std::vector<DensityCell> cells_;
  double per_cell_;
  std::array<float, wire::kStageCount> shares_{};
  std::size_t current_ = 0;
  bool touched_ = false;
};

// Puts each span of a thread on the first level that is free at its start. The spans around a span
// take the levels above, so it lies below them.
class LevelPlacer {
 public:
  static constexpr std::size_t kMost = 16;  // deeper spans lie on the last level

  struct Place {
    std::size_t level = 0;
    std::int64_t start = 0;  // on the last level: moved to the end of the span that it overlaps
    std::int64_t length = 0;
  };
  // Returns nullopt if the span lies below the levels that can be shown.
  // Requires: the order of StartsBefore.
  [[nodiscard]] std::optional<Place> Add(std::int64_t start, std::int64_t length);

 private:
  std::vector<std::int64_t> ends_;
};

// A step of a training loop that was not recorded: the time between two waits.
struct DerivedStep {
  std::int64_t start = 0;
  std::int64_t length = 0;
  BatchKey batch;
};

// Finds such steps in the spans of a thread.
class StepFinder {
 public:
  // Requires: the order of StartsBefore.
  void Add(std::int64_t start, std::int64_t length, StageId stage, BatchKey batch);
  // The steps, ascending by start; none if steps were recorded.
  [[nodiscard]] std::vector<DerivedStep> Take();

 private:
  std::vector<DerivedStep> steps_;
  std::optional<DerivedStep> wait_;  // the last wait
  bool marked_ = false;
};

}  // namespace penstock::traces
