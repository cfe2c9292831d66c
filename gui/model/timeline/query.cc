// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/query.h"

#include <algorithm>
#include <array>
#include <utility>

#include "gui/model/timeline/search_terms.h"

namespace penstock::gui {
namespace {

using traces::StageId;

using Sums = std::array<StageSum, wire::kStageCount>;

// Adds (sign 1) or subtracts (sign -1) the spans before `index`.
void AddPrefix(const Level& level, std::size_t index, int sign, Sums& sums) {
  const std::size_t block = index / Level::kStride;
  const Level::Totals& totals = level.totals[std::min(block, level.totals.size() - 1)];
  const auto add = [&](std::size_t stage, std::uint64_t count, std::int64_t time) {
    sums[stage].count += sign > 0 ? count : -count;
    sums[stage].time += sign * time;
  };
  for (std::size_t s = 0; s < wire::kStageCount; ++s) add(s, totals.count[s], totals.time[s]);
  for (std::size_t i = block * Level::kStride; i < index; ++i) {
    add(level.shape[i] & 0xff, 1, level.length(i));
  }
}

void AddLevel(const Level& level, TimeRange range, Sums& sums) {
  const std::size_t first = level.FirstEndingAfter(range.from);
  const std::size_t last = level.FirstStartingAt(range.to);
  if (first >= last) return;
  AddPrefix(level, last, 1, sums);
  AddPrefix(level, first, -1, sums);
  // The first and the last span may reach out of the range.
  const auto cut = [&](std::size_t i) {
    const std::int64_t before = std::max<std::int64_t>(range.from - level.start[i], 0);
    const std::int64_t after = std::max<std::int64_t>(level.end(i) - range.to, 0);
    if (before + after == 0) return;
    StageSum& sum = sums[level.shape[i] & 0xff];
    sum.time -= before + after;
    ++sum.cut;
    sum.cut_time += level.length(i) - before - after;
  };
  cut(first);
  if (last - 1 > first) cut(last - 1);
}

// The stages that occur, by time.
std::vector<StageSum> StagesFound(const Sums& sums) {
  std::vector<StageSum> found;
  for (const StageSum& sum : sums) {
    if (sum.count > 0) found.push_back(sum);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const StageSum& a, const StageSum& b) { return a.time > b.time; });
  return found;
}

}  // namespace

TimeRange Inside(const Timeline& timeline, TimeRange range) {
  return {std::clamp<std::int64_t>(range.from, 0, timeline.length),
          std::clamp<std::int64_t>(range.to, 0, timeline.length)};
}

std::vector<StageSum> Aggregate(const Timeline& timeline, TimeRange range,
                                const std::vector<std::size_t>& lanes) {
  Sums sums;
  for (std::size_t s = 0; s < sums.size(); ++s) sums[s].stage = static_cast<StageId>(s);
  const auto add = [&](const Lane& lane) {
    for (const Level& level : lane.levels) AddLevel(level, range, sums);
  };
  if (range.empty()) return {};
  if (lanes.empty()) {
    for (const Lane& lane : timeline.lanes) add(lane);
  } else {
    for (const std::size_t lane : lanes) add(timeline.lanes[lane]);
  }
  return StagesFound(sums);
}

std::vector<StageSum> StageSums(const Timeline& timeline) {
  // The range begins at -1, because a span without length at time 0 would not overlap [0, ...).
  if (!timeline.preview) return Aggregate(timeline, {-1, timeline.length + 1});
  Sums sums;
  for (std::size_t s = 0; s < sums.size(); ++s) {
    sums[s] = {static_cast<StageId>(s), timeline.totals[s].count, timeline.totals[s].time};
  }
  return StagesFound(sums);
}

Search::Search(const Timeline& timeline, const traces::Trace& trace, std::string_view text) {
  constexpr std::size_t kMost = 1'000'000;
  SearchTerms terms(text);
  if (terms.empty()) return;
  terms.Prepare(timeline, trace);
  for (std::uint32_t l = 0; l < timeline.lanes.size(); ++l) {
    const Lane& lane = timeline.lanes[l];
    if (!terms.MayHold(l)) continue;
    for (std::uint32_t v = 0; v < lane.levels.size(); ++v) {
      const Level& level = lane.levels[v];
      for (std::uint32_t i = 0; i < level.size(); ++i) {
        if (!terms.Hold(level.stage(i), level.length(i), level.detail[i])) continue;
        truncated_ = truncated_ || hits_.size() == kMost;
        if (!truncated_) hits_.push_back({l, v, i});
      }
    }
  }
  by_level_ = hits_;  // still in the order of the levels
  std::sort(hits_.begin(), hits_.end(), [&](SpanRef a, SpanRef b) {
    return std::pair(timeline.start(a), a) < std::pair(timeline.start(b), b);
  });
}

std::span<const SpanRef> Search::HitsOf(std::uint32_t lane, std::uint32_t level) const {
  const auto [first, last] = std::equal_range(
      by_level_.begin(), by_level_.end(), SpanRef{lane, level, 0},
      [](SpanRef a, SpanRef b) { return std::pair(a.lane, a.level) < std::pair(b.lane, b.level); });
  return {first, last};
}

std::optional<std::size_t> Search::Next(const Timeline& timeline, std::int64_t at) const {
  if (hits_.empty()) return std::nullopt;
  const auto it = std::partition_point(hits_.begin(), hits_.end(),
                                       [&](SpanRef hit) { return timeline.start(hit) <= at; });
  return it == hits_.end() ? 0 : static_cast<std::size_t>(it - hits_.begin());
}

std::optional<std::size_t> Search::Previous(const Timeline& timeline, std::int64_t at) const {
  if (hits_.empty()) return std::nullopt;
  const auto it = std::partition_point(hits_.begin(), hits_.end(),
                                       [&](SpanRef hit) { return timeline.start(hit) < at; });
  return it == hits_.begin() ? hits_.size() - 1 : static_cast<std::size_t>(it - hits_.begin()) - 1;
}

std::optional<SpanRef> Neighbour(const Timeline& timeline, SpanRef span, int step,
                                 std::uint32_t hidden) {
  const std::size_t size = timeline.level(span).size();
  while (step < 0 ? span.index > 0 : span.index + 1 < size) {
    span.index = step < 0 ? span.index - 1 : span.index + 1;
    if ((hidden >> static_cast<unsigned>(timeline.stage(span)) & 1u) == 0) return span;
  }
  return std::nullopt;
}

std::vector<SpanRef> StopsOf(const Timeline& timeline, traces::BatchKey key) {
  const auto [first, last] =
      std::equal_range(timeline.stops.begin(), timeline.stops.end(), BatchStop{key, {}, 0},
                       [](const BatchStop& a, const BatchStop& b) { return a.key < b.key; });
  std::vector<SpanRef> stops;
  if (!key.valid()) return stops;
  for (auto it = first; it != last; ++it) stops.push_back(it->span);
  return stops;
}

std::vector<SpanRef> OwnStopsOf(const Timeline& timeline, SpanRef span) {
  std::vector<SpanRef> stops = StopsOf(timeline, timeline.detail(span).key());
  const ProcessId consumer = timeline.lanes[span.lane].consumer;
  std::erase_if(stops,
                [&](SpanRef stop) { return timeline.lanes[stop.lane].consumer != consumer; });
  return stops;
}

std::optional<SpanRef> AlongBatch(const Timeline& timeline, SpanRef span, int step) {
  const std::vector<SpanRef> stops = OwnStopsOf(timeline, span);
  const auto here = std::find(stops.begin(), stops.end(), span);
  if (here != stops.end()) {
    if (step < 0 ? here == stops.begin() : here + 1 == stops.end()) return std::nullopt;
    return step < 0 ? *(here - 1) : *(here + 1);
  }
  const std::int64_t at = timeline.start(span);
  const auto after = std::find_if(stops.begin(), stops.end(),
                                  [&](SpanRef stop) { return timeline.start(stop) > at; });
  if (step < 0) return after == stops.begin() ? std::nullopt : std::optional(*(after - 1));
  return after == stops.end() ? std::nullopt : std::optional(*after);
}

std::optional<SpanRef> Longest(const Timeline& timeline, StageId stage, TimeRange range) {
  std::optional<SpanRef> found;
  std::int64_t most = -1;
  for (std::uint32_t l = 0; l < timeline.lanes.size(); ++l) {
    for (std::uint32_t v = 0; v < timeline.lanes[l].levels.size(); ++v) {
      const Level& level = timeline.lanes[l].levels[v];
      const std::size_t last = level.FirstStartingAt(range.to);
      for (std::size_t i = level.FirstEndingAfter(range.from); i < last; ++i) {
        if (level.stage(i) != stage || level.length(i) <= most) continue;
        most = level.length(i);
        found = SpanRef{l, v, static_cast<std::uint32_t>(i)};
      }
    }
  }
  return found;
}

std::int64_t SnapToEdge(const Level& level, std::int64_t at, std::int64_t reach) {
  std::int64_t best = at;
  std::int64_t distance = reach + 1;
  const auto try_edge = [&](std::int64_t edge) {
    const std::int64_t away = edge > at ? edge - at : at - edge;
    if (away < distance) {
      distance = away;
      best = edge;
    }
  };
  const std::size_t here = level.FirstEndingAfter(at);
  for (std::size_t i = here > 0 ? here - 1 : 0; i < std::min(level.size(), here + 2); ++i) {
    try_edge(level.start[i]);
    try_edge(level.end(i));
  }
  return best;
}

}  // namespace penstock::gui
