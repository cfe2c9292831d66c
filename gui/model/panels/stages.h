// SPDX-License-Identifier: Apache-2.0
//
// What the stages view shows: a row for each stage and each named part of it, the distribution of a
// row's calls, and its slowest calls. Values; pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "gui/model/document.h"
#include "gui/model/timeline/calls.h"
#include "gui/model/words/texts.h"

namespace penstock::gui {

// A row of the table: a stage, or a named part of it such as one transform or decoder.
struct RowId {
  traces::StageId stage = traces::StageId::kNone;
  StringId part;  // 0: the stage itself
  constexpr bool operator==(const RowId&) const = default;
};

// The shares of the calls by duration, in bins of equal width on a log scale.
struct StageHistogram {
  std::size_t per_decade = analyzer::kBinsPerDecade;
  std::size_t first = 0;       // bin 0 begins at 10^(first / per_decade) ns
  std::vector<double> bins{};  // fractions of all calls

  [[nodiscard]] double most() const;
  [[nodiscard]] double EdgeOf(std::size_t bin) const;  // its lower edge in seconds
  [[nodiscard]] double PlaceOf(double seconds) const;  // in bins, clamped to the axis
};

// Whole decades with analyzer::kBinsPerDecade bins each; or, if that shows two bars at most, finer
// bins where the calls are.
[[nodiscard]] StageHistogram HistogramOf(const analyzer::DurationSketch& durations);

// A bin of a histogram. Bins are numbered from 1 ns on (StageHistogram::first + i), because another
// histogram may begin elsewhere.
struct StageBin {
  std::size_t per_decade = analyzer::kBinsPerDecade;
  std::size_t number = 0;
  bool operator==(const StageBin&) const = default;
};

// `chosen` if `histogram` has bins of this width; else none, since no bar would show it.
[[nodiscard]] std::optional<StageBin> BinOf(const StageHistogram& histogram,
                                            std::optional<StageBin> chosen);

struct StageLine {
  // The part that is the time outside of all named parts (analyzer::UnnamedTime()).
  static constexpr StringId kRest{std::numeric_limits<std::uint32_t>::max()};

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
  // The time of the stage as a fraction of the workers' busy time (`of_workers`) or of the loop's
  // time. For idle: of the workers' lives; for startup: of the run. Above 1: several threads are in
  // the stage at once.
  double share = 0;
  bool of_workers = false;
  bool unended = false;     // the loop's time has a last step in it whose end was not recorded
  bool mixed = false;       // as in analyzer::StageRow: p50, p90, p99 mix several kinds of call
  std::size_t devices = 1;  // as in analyzer::StageRow: wall and share are sums over them
  StageHistogram histogram;

  [[nodiscard]] bool is_part() const { return id.part.value != 0; }
  [[nodiscard]] bool is_rest() const { return id.part == kRest; }
  // The share of one device, which the table shows.
  [[nodiscard]] double share_of_one() const { return share / static_cast<double>(devices); }
};

// The notes below these rows: that they have the times of all ranks, to what the shares refer, that
// some stages contain others, that streams of a device count one by one, and what the rest is.
[[nodiscard]] std::vector<std::string> ShareNotes(std::span<const StageLine> lines,
                                                  std::size_t ranks, Language language);
// These notes, which work of a device the table leaves out, and that it counts windows in which
// experiments slowed the run down.
[[nodiscard]] std::vector<std::string> TableNotes(const analyzer::RunModel& run,
                                                  std::span<const StageLine> lines,
                                                  std::size_t ranks, Language language);

// The stages in the order in which data passes them, each followed by the 32 parts with most time,
// longest first. Without a range the numbers are the report's own.
// Cost: O(rows) without a range; with one, a pass over the spans.
[[nodiscard]] std::vector<StageLine> BuildStages(const Extent& extent, const Analysis& analysis,
                                                 const std::stop_token& stop = {});

enum class StageColumn : std::int8_t { kShare = 1, kWall, kCpu, kCount, kP50, kP90, kP99, kBytes };

// The order of `lines` by a column (any other number keeps the order). Parts stay below their
// stage.
[[nodiscard]] std::vector<std::uint32_t> SortStages(std::span<const StageLine> lines, int column,
                                                    bool descending);

// The row to look at first: among the stages of the bottleneck, the one with most time. Without
// such a stage, the stage in which most time passes with work.
[[nodiscard]] RowId MostTelling(const analyzer::Report& report, std::span<const StageLine> lines);

// Asks for the calls of a row that take from `low` to `high` seconds.
struct TailQuestion {
  RowId id;
  double low = 0;
  double high = 1e12;
  bool operator==(const TailQuestion&) const = default;
};
// Asks for all calls of a row, or for the calls of one bin of its histogram.
[[nodiscard]] TailQuestion CallsOf(RowId id, std::optional<StageBin> bin);

struct Tail {
  std::vector<Call> calls;  // longest first, at most kMost
  std::uint64_t count = 0;  // the number of all such calls
  static constexpr std::size_t kMost = 200;
};
// Finds the calls that `question` asks for. A decode has the file that FileAtHand names. Any other
// call, and a decode for which it names none, has the last file that was read for its sample, if
// such a read was recorded. Cost: one pass over the spans, and one more over the threads of the
// processes of the calls that are kept.
[[nodiscard]] Tail FindTail(const Extent& extent, const Analysis& analysis,
                            const TailQuestion& question, const std::stop_token& stop = {});

}  // namespace penstock::gui
