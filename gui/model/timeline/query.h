// SPDX-License-Identifier: Apache-2.0
//
// Answers questions about a timeline: what is in a selection, where a text occurs, which span comes
// next. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gui/model/timeline/search_terms.h"
#include "gui/model/timeline/timeline.h"

namespace penstock::gui {

struct TimeRange {
  std::int64_t from = 0;
  std::int64_t to = 0;
  [[nodiscard]] bool empty() const { return to <= from; }
  [[nodiscard]] std::int64_t length() const { return to - from; }
  constexpr bool operator==(const TimeRange&) const = default;
};

[[nodiscard]] constexpr TimeRange Shifted(TimeRange range, std::int64_t by) {
  return {range.from + by, range.to + by};
}

// The part of `range` that lies within the trace.
[[nodiscard]] TimeRange Inside(const Timeline& timeline, TimeRange range);

// The time of one stage inside a selection, over all threads. If a span reaches out of the
// selection, only its part inside counts.
struct StageSum {
  traces::StageId stage = traces::StageId::kNone;
  std::uint64_t count = 0;
  std::int64_t time = 0;  // ns
  // Those among them that reach out of the selection.
  std::uint64_t cut = 0;
  std::int64_t cut_time = 0;  // ns, inside the selection
  // Seconds for each span that lies whole in the selection; nullopt if there is none.
  [[nodiscard]] std::optional<double> mean() const {
    if (cut >= count) return std::nullopt;
    return static_cast<double>(time - cut_time) / static_cast<double>(count - cut) * 1e-9;
  }
  // The average number of threads in the stage at a time. `range`: the one that was summed. nullopt
  // for ranges that the program named: they lie within each other, and each counts in full.
  [[nodiscard]] std::optional<double> threads(TimeRange range) const {
    if (stage == traces::StageId::kMark || range.empty()) return std::nullopt;
    return static_cast<double>(time) / static_cast<double>(range.length());
  }
};

// The stages that occur in `range`, by time, largest first. Without `lanes` all of them count.
// Cost: O(levels * (Level::kStride + log spans)), independent of the length of the range.
[[nodiscard]] std::vector<StageSum> Aggregate(const Timeline& timeline, TimeRange range,
                                              const std::vector<std::size_t>& lanes = {});

// All stages of the trace by time, also for a preview. Cost: that of Aggregate().
[[nodiscard]] std::vector<StageSum> StageSums(const Timeline& timeline);

// The spans that a text describes (gui/model/timeline/search_terms.h).
class Search {
 public:
  // Cost: one pass over all strings and spans; 10 million spans take some 50 ms.
  Search(const Timeline& timeline, const traces::Trace& trace, std::string_view text);

  [[nodiscard]] const std::vector<SpanRef>& hits() const { return hits_; }  // by start
  // The hits on one level, by start.
  [[nodiscard]] std::span<const SpanRef> HitsOf(std::uint32_t lane, std::uint32_t level) const;
  // Whether there were more hits than are kept.
  [[nodiscard]] bool truncated() const { return truncated_; }
  // The index of the hit that starts after (or before) `at`, wrapping around; nullopt without hits.
  [[nodiscard]] std::optional<std::size_t> Next(const Timeline& timeline, std::int64_t at) const;
  [[nodiscard]] std::optional<std::size_t> Previous(const Timeline& timeline,
                                                    std::int64_t at) const;

 private:
  std::vector<SpanRef> hits_;
  std::vector<SpanRef> by_level_;  // the same hits, level by level
  bool truncated_ = false;
};

// The span before (-1) or after (+1) `span` on its level; nullopt at the end. Skips stages whose
// bit is set in `hidden`.
[[nodiscard]] std::optional<SpanRef> Neighbour(const Timeline& timeline, SpanRef span, int step,
                                               std::uint32_t hidden = 0);

// The BatchStop before (-1) or after (+1) `span` for its batch; nullopt without a batch or at an
// end. If `span` is not a stop itself, this is the nearest stop in that direction.
[[nodiscard]] std::optional<SpanRef> AlongBatch(const Timeline& timeline, SpanRef span, int step);

// All stops of the batches with a key, by time. Several training processes may have such a batch.
[[nodiscard]] std::vector<SpanRef> StopsOf(const Timeline& timeline, traces::BatchKey key);
// The stops of the batch of `span`, by time; none without a batch.
[[nodiscard]] std::vector<SpanRef> OwnStopsOf(const Timeline& timeline, SpanRef span);

// The longest span of a stage among those that overlap `range`. Whole lengths are compared. Cost:
// O(spans in the range).
[[nodiscard]] std::optional<SpanRef> Longest(const Timeline& timeline, traces::StageId stage,
                                             TimeRange range);

// Among the edges of all spans of `level`, the one nearest to `at`, if it is at most `reach` away
// from `at`; else `at`.
[[nodiscard]] std::int64_t SnapToEdge(const Level& level, std::int64_t at, std::int64_t reach);

}  // namespace penstock::gui
