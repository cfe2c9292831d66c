// SPDX-License-Identifier: Apache-2.0
//
// An index over the steps of a training loop that are derived from its batches, as the report's
// table of stages counts them. Immutable once built; safe from several threads.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/model/run_model.h"
#include "gui/model/timeline/query.h"

namespace penstock::gui {

// Intervals that follow each other.
class Sequence {
 public:
  void Add(std::int64_t start, std::int64_t end);
  // Call it once, after the last Add().
  void Finish();

  [[nodiscard]] std::int64_t TimeIn(TimeRange range) const;
  // The intervals that overlap `range`, or end in it: from first to before last.
  [[nodiscard]] std::size_t First(TimeRange range) const;
  [[nodiscard]] std::size_t Last(TimeRange range) const;
  [[nodiscard]] TimeRange operator[](std::size_t i) const { return {starts_[i], ends_[i]}; }

 private:
  [[nodiscard]] std::uint64_t TimeBefore(std::int64_t at) const;

  std::vector<std::int64_t> starts_;          // ascending
  std::vector<std::int64_t> ends_;            // ascending
  std::vector<std::uint64_t> starts_before_;  // sums of the starts before each, modulo 2^64
  std::vector<std::uint64_t> ends_before_;
};

class LoopSteps {
 public:
  // The steps of each loop of the run. `begin`: of the trace; the times of the index count from it.
  [[nodiscard]] static std::vector<LoopSteps> Of(const analyzer::RunModel& run, std::int64_t begin);

  // Adds the steps in `range`. A step at its ends counts with its part inside.
  void AddTo(StageSum& sum, TimeRange range) const;

 private:
  Sequence steps_;
  Sequence parts_;  // steps without the waits for other loaders inside them
};

}  // namespace penstock::gui
