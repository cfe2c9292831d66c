// SPDX-License-Identifier: Apache-2.0
//
// Sums and distributions of each stage over a run, with the named parts below it.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "analyzer/stats/sketch.h"
#include "traces/event.h"
#include "traces/nesting.h"

namespace penstock::analyzer {

struct PartTotals {
  TimeNs wall;
  TimeNs cpu;                    // CPU time of the spans for which it is known
  std::uint64_t timed = 0;       // part of `count`: spans whose CPU time is known
  TimeNs untimed;                // part of `wall`: spans whose CPU time is not known
  std::uint64_t count = 0;       // of a stage: without calls that only opened an image
  std::uint64_t openings = 0;    // of a named part: its calls that only opened an image
  std::uint64_t with_bytes = 0;  // spans that have bytes
  Bytes bytes;
  DurationSketch durations;

  void Add(std::int64_t wall_ns, std::int64_t cpu_ns, std::uint64_t span_bytes);
  void Add(const traces::Counted& counted, std::uint64_t span_bytes);
  // Whether `cpu` is the CPU time of all spans, or of all but a hundredth of their time.
  [[nodiscard]] bool cpu_known() const { return timed > 0 && 100 * untimed.value <= wall.value; }
};

struct StageTotals : PartTotals {
  std::map<StringId, PartTotals> children;  // by span name
  TimeNs queued;  // part of `wall`: waiting before reads, outside of their spans
  TimeNs last;    // the end of its last span; 0: none
  TimeNs inside;  // of collate, beside `wall`: reads, decodes and transforms inside its spans
};

// Whether the calls are of several kinds with different durations, such as decoding an image and
// reading an array. A percentile over all calls may then lie between the kinds, where there is no
// call.
[[nodiscard]] bool IsMixed(const StageTotals& totals);

// One entry per StageId.
class StageTable {
 public:
  void Add(const traces::Counted& counted);
  [[nodiscard]] const StageTotals& operator[](traces::StageId stage) const {
    return totals_[static_cast<std::size_t>(stage)];
  }
  [[nodiscard]] StageTotals& operator[](traces::StageId stage) {
    return totals_[static_cast<std::size_t>(stage)];
  }

  // Seconds that the workers spend on data: in fetches or, if there are none, in the stages from
  // read to put. Shares of stages are shares of this time.
  [[nodiscard]] double DataTime() const;

 private:
  std::array<StageTotals, wire::kStageCount> totals_;
};

}  // namespace penstock::analyzer
