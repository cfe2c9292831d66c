// SPDX-License-Identifier: Apache-2.0
//
// How spans lie when they are drawn, and how they look when they are narrower than a pixel: levels
// on which they do not overlap, and cells that say which stages cover a stretch of a level. The
// dashboard and the packer share it, so that both draw the same picture. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "traces/event.h"

namespace penstock::traces {

// A stretch of a level: how much of it each of the three largest stages covers, in 1/255.
// A share of 0 ends the list.
struct DensityCell {
  std::array<std::uint8_t, 3> stage{};
  std::array<std::uint8_t, 3> share{};
  constexpr bool operator==(const DensityCell&) const = default;
};

// What two neighbouring cells are together.
[[nodiscard]] DensityCell MergedCell(const DensityCell& a, const DensityCell& b);

// Index of a stage into tables of wire::kStageCount; what a later version names is the last.
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

// Puts the spans of a thread on the first level that is free when they start. A span lies below
// those around it, for their levels are taken.
class LevelPlacer {
 public:
  static constexpr std::size_t kMost = 16;  // what nests deeper lies on the last one

  struct Place {
    std::size_t level = 0;
    std::int64_t start = 0;  // on the last level one that overlaps begins where that ends
    std::int64_t length = 0;
  };
  // Requires: the order of StartsBefore. nullopt: below what can be shown.
  [[nodiscard]] std::optional<Place> Add(std::int64_t start, std::int64_t length);

 private:
  std::vector<std::int64_t> ends_;
};

// The step of a training loop that nobody marked: what lies between two waits.
struct DerivedStep {
  std::int64_t start = 0;
  std::int64_t length = 0;
  BatchKey batch;
};

// Finds them in the spans of a thread.
class StepFinder {
 public:
  // Requires: the order of StartsBefore.
  void Add(std::int64_t start, std::int64_t length, StageId stage, BatchKey batch);
  // Ascending by start; none where steps were recorded.
  [[nodiscard]] std::vector<DerivedStep> Take();

 private:
  std::vector<DerivedStep> steps_;
  std::optional<DerivedStep> wait_;  // the last one
  bool marked_ = false;
};

}  // namespace penstock::traces
