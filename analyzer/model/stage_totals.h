// SPDX-License-Identifier: Apache-2.0
//
// Sums and distributions of each stage over a run, with the named parts below it.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "analyzer/model/nesting.h"
#include "analyzer/stats/sketch.h"
#include "traces/event.h"

namespace penstock::analyzer {

struct PartTotals {
  TimeNs wall;
  TimeNs cpu;               // of the spans where it was taken
  std::uint64_t timed = 0;  // spans with CPU time
  std::uint64_t count = 0;
  std::uint64_t with_bytes = 0;  // of them: that have bytes
  Bytes bytes;
  DurationSketch durations;

  void Add(std::int64_t wall_ns, std::int64_t cpu_ns, std::uint64_t span_bytes);
  [[nodiscard]] bool cpu_known() const { return timed > 0; }
};

struct StageTotals : PartTotals {
  std::map<StringId, PartTotals> children;  // by span name
  TimeNs queued;  // of `wall`: waiting before reads, which their spans do not hold
};

// Whether the calls are of several kinds that take times of their own, as opening an image and
// decoding it: a percentile over all of them may lie where no call does.
[[nodiscard]] bool IsMixed(const StageTotals& totals);

// One entry per StageId.
class StageTable {
 public:
  void Add(const Counted& counted);
  [[nodiscard]] const StageTotals& operator[](traces::StageId stage) const {
    return totals_[static_cast<std::size_t>(stage)];
  }
  [[nodiscard]] StageTotals& operator[](traces::StageId stage) {
    return totals_[static_cast<std::size_t>(stage)];
  }

  // Seconds of the workers in what they do to data: fetches, or samples where nothing fetches, or
  // the sum of the stages where neither was recorded. Shares of stages are shares of it.
  [[nodiscard]] double DataTime() const;

 private:
  std::array<StageTotals, wire::kStageCount> totals_;
};

}  // namespace penstock::analyzer
