// SPDX-License-Identifier: Apache-2.0
//
// What the stages view shows: a row for each stage and each named part of it, how the calls of a
// row are distributed, and which the slow ones are. Values; pure.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "gui/model/document.h"
#include "gui/model/timeline/calls.h"

namespace penstock::gui {

// A row of the table: a stage, or one transform, decoder or other named part of it.
struct RowId {
  traces::StageId stage = traces::StageId::kNone;
  StringId part;  // 0: the stage itself
  constexpr bool operator==(const RowId&) const = default;
};

// Shares of the calls in bins of analyzer::kBinsPerDecade per decade.
struct StageHistogram {
  std::size_t first = 0;     // bin 0 begins at 10^(first / kBinsPerDecade) ns
  std::vector<double> bins;  // fractions of all calls; whole decades

  [[nodiscard]] double most() const;
  [[nodiscard]] double EdgeOf(std::size_t bin) const;  // seconds, its lower edge
  [[nodiscard]] double PlaceOf(double seconds) const;  // in bins, clamped to the axis
};

struct StageLine {
  RowId id;
  std::string name;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  double wall = 0;  // seconds
  double cpu = 0;
  bool cpu_known = false;
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
  double share = 0;  // of the workers' busy time, of the loop's, or of the workers' lives
  bool of_workers = false;
  bool mixed = false;  // as analyzer::StageRow has it: p50, p90 and p99 are of no kind of call
  StageHistogram histogram;

  [[nodiscard]] bool is_part() const { return id.part.value != 0; }
};

// Stages in the order of the data's way, each followed by its parts, longest first. Without a range
// they are the report's own numbers.
// Cost: O(rows) without a range; with one, a pass over the spans.
[[nodiscard]] std::vector<StageLine> BuildStages(const Extent& extent, const Analysis& analysis,
                                                 const std::stop_token& stop = {});

enum class StageColumn : std::int8_t { kShare = 1, kWall, kCpu, kCount, kP50, kP90, kP99, kBytes };

// Places in `lines` by a column (any other number: as they are); parts stay below their stage.
[[nodiscard]] std::vector<std::uint32_t> SortStages(std::span<const StageLine> lines, int column,
                                                    bool descending);

// The stage to look at first: the bottleneck, else the first one.
[[nodiscard]] RowId MostTelling(const analyzer::Report& report, std::span<const StageLine> lines);

// Calls of a row that take from `low` to `high` seconds.
struct TailQuestion {
  RowId id;
  double low = 0;
  double high = 1e12;
  bool operator==(const TailQuestion&) const = default;
};
struct Tail {
  std::vector<Call> calls;  // longest first, at most kMost
  std::uint64_t count = 0;  // of all
  static constexpr std::size_t kMost = 200;
};
// Each call has the file that its sample was read from, if a read of that sample was seen.
// Cost: one pass over the spans, and one over those of the threads with such a call.
[[nodiscard]] Tail FindTail(const Extent& extent, const Analysis& analysis,
                            const TailQuestion& question, const std::stop_token& stop = {});

}  // namespace penstock::gui
