// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/timeline_state.h"

#include <algorithm>
#include <cmath>

namespace penstock::gui {
namespace {

constexpr double kShortest = 50;  // ns
constexpr double kMargin = 0.02;  // how far a view may leave the trace, as a fraction of the view

// The present place of a pinned lane.
struct LanePlace {
  std::uint32_t group = 0;
  std::uint32_t lane = 0;
};

std::optional<LanePlace> LaneOf(const Timeline& timeline, const Pin& pin) {
  for (std::uint32_t g = 0; g < timeline.groups.size(); ++g) {
    if (timeline.groups[g].pid != pin.pid) continue;
    for (const std::size_t lane : timeline.groups[g].lanes) {
      if (timeline.lanes[lane].tid == pin.part) {
        return LanePlace{g, static_cast<std::uint32_t>(lane)};
      }
    }
  }
  return std::nullopt;
}

// The group of a counter's process; Row::kAllGroups for a counter of the whole run.
std::uint32_t GroupOf(const Timeline& timeline, const CounterTrack& track) {
  for (std::uint32_t g = 0; g < timeline.groups.size(); ++g) {
    if (timeline.groups[g].process.value == track.process) return g;
  }
  return Row::kAllGroups;
}

std::uint32_t PidOf(const Timeline& timeline, const CounterTrack& track) {
  const std::uint32_t group = GroupOf(timeline, track);
  return group == Row::kAllGroups ? Pin::kWholeRun : timeline.groups[group].pid;
}

std::optional<std::uint32_t> CounterOf(const Timeline& timeline,
                                       std::span<const CounterTrack> counters, const Pin& pin) {
  for (std::uint32_t c = 0; c < counters.size(); ++c) {
    const bool same = static_cast<std::uint32_t>(counters[c].kind) == pin.part;
    if (same && PidOf(timeline, counters[c]) == pin.pid) return c;
  }
  return std::nullopt;
}

}  // namespace

TimeView::TimeView(std::int64_t length) : length_(std::max<std::int64_t>(length, 1)) {
  Fit();
}

TimeRange TimeView::range() const {
  const auto from = static_cast<std::int64_t>(std::floor(from_));
  return {from, std::max(from + 1, static_cast<std::int64_t>(std::ceil(to_)))};
}

void TimeView::Fit() {
  const auto length = static_cast<double>(length_);
  from_ = -0.5 * kMargin * length;
  to_ = length - from_;
}

void TimeView::Show(TimeRange range) {
  from_ = static_cast<double>(range.from);
  to_ = static_cast<double>(range.to);
  Keep();
}

void TimeView::ShowWithMargin(TimeRange range) {
  const auto margin = std::max<std::int64_t>(range.length() / 10, 20);
  Show({range.from - margin, range.to + margin});
}

void TimeView::Zoom(double fraction, double factor) {
  const double at = from_ + fraction * (to_ - from_);
  from_ = at - (at - from_) * factor;
  to_ = at + (to_ - at) * factor;
  Keep();
}

void TimeView::Pan(double fraction) {
  const double by = fraction * (to_ - from_);
  from_ += by;
  to_ += by;
  Keep();
}

void TimeView::Reveal(std::int64_t at) {
  const auto place = static_cast<double>(at);
  if (place >= from_ && place <= to_) return;
  const double half = (to_ - from_) / 2;
  from_ = place - half;
  to_ = place + half;
  Keep();
}

void TimeView::Keep() {
  const auto length = static_cast<double>(length_);
  if (!std::isfinite(from_) || !std::isfinite(to_)) Fit();
  if (to_ - from_ < kShortest) {
    const double middle = (from_ + to_) / 2;
    from_ = middle - kShortest / 2;
    to_ = middle + kShortest / 2;
  }
  if (to_ - from_ >= length * (1 + kMargin)) {
    Fit();
    return;
  }
  const double margin = kMargin * (to_ - from_);
  if (from_ < -margin) {
    to_ += -margin - from_;
    from_ = -margin;
  } else if (to_ > length + margin) {
    from_ -= to_ - length - margin;
    to_ = length + margin;
  }
}

void TimelineState::ToggleFold(std::uint32_t group) {
  if (folded.erase(group) == 0) folded.insert(group);
}

void TimelineState::CameFrom(TimeRange before) {
  constexpr std::size_t kMost = 100;
  if (before == view.range()) return;
  back.push_back(before);
  if (back.size() > kMost) back.erase(back.begin());
  ahead.clear();
}

void TimelineState::Jump(TimeRange range) {
  const TimeRange before = view.range();
  view.Show(range);
  CameFrom(before);
}

void TimelineState::JumpToAll() {
  const TimeRange before = view.range();
  view.Fit();
  CameFrom(before);
}

bool TimelineState::Back() {
  if (back.empty()) return false;
  ahead.push_back(view.range());
  view.Show(back.back());
  back.pop_back();
  return true;
}

bool TimelineState::Forward() {
  if (ahead.empty()) return false;
  back.push_back(view.range());
  view.Show(ahead.back());
  ahead.pop_back();
  return true;
}

bool TimelineState::IsPinned(Pin pin) const {
  return std::find(pins.begin(), pins.end(), pin) != pins.end();
}

void TimelineState::TogglePin(Pin pin) {
  const auto it = std::find(pins.begin(), pins.end(), pin);
  if (it != pins.end()) {
    pins.erase(it);
  } else {
    pins.push_back(pin);
  }
}

void TimelineState::FoldAll(const Timeline& timeline, bool fold) {
  folded.clear();
  if (!fold) return;
  folded.insert(Row::kAllGroups);
  for (std::uint32_t g = 0; g < timeline.groups.size(); ++g) folded.insert(g);
}

void TimelineState::FoldOthers(const Timeline& timeline, std::uint32_t group) {
  FoldAll(timeline, true);
  folded.erase(group);
}

void TimelineState::TogglePanel(bool shown) {
  if (selection || span) {
    panel_hidden = !panel_hidden;
  } else {
    table = !shown;
  }
}

void TimelineState::Solo(traces::StageId stage) {
  const std::uint32_t others = ~(1u << static_cast<unsigned>(stage));
  hidden_stages = hidden_stages == others ? 0 : others;
}

void TimelineState::MarkSpan(const Timeline& timeline) {
  if (!span) return;
  const TimeRange range{timeline.start(*span), timeline.end(*span)};
  if (!range.empty()) selection = range;
}

void TimelineState::KeepNote(const Timeline& timeline) {
  TimeRange range = view.range();
  if (span)
    range = {timeline.start(*span), std::max(timeline.end(*span), timeline.start(*span) + 1)};
  if (selection) range = *selection;
  notes.push_back({range, ""});
}

void TimelineState::Go(const Timeline& timeline, SpanRef to) {
  const TimeRange before = view.range();
  span = to;
  const std::int64_t start = timeline.start(to);
  const std::int64_t length = timeline.end(to) - start;
  const TimeRange visible = view.range();
  // At this zoom the span is only a few pixels wide, so the view zooms in.
  if (length > 0 && length < visible.length() / 400) {
    view.Show({start - 10 * length, start + 11 * length});
  } else if (length > visible.length()) {
    view.ShowWithMargin({start, start + length});
  } else if (start < visible.from || start + length > visible.to) {
    view.Reveal(start < visible.from ? start - length : start + 2 * length);
    view.Reveal(start);
  }
  CameFrom(before);
}

void TimelineState::Focus(const Timeline& timeline) {
  const TimeRange before = view.range();
  if (selection) {
    view.ShowWithMargin(*selection);
  } else if (span) {
    view.ShowWithMargin({timeline.start(*span), timeline.end(*span)});
  }
  CameFrom(before);
}

std::optional<SpanRef> LongestHere(const Timeline& timeline, const TimelineState& state) {
  const TimeRange range = state.selection ? *state.selection : state.view.range();
  if (state.span) return Longest(timeline, timeline.stage(*state.span), range);
  for (const StageSum& sum : Aggregate(timeline, range)) {
    if (state.Shows(sum.stage)) return Longest(timeline, sum.stage, range);
  }
  return std::nullopt;
}

std::vector<Row> LayOutRows(const Timeline& timeline, std::span<const CounterTrack> counters,
                            const TimelineState& state, const RowHeights& heights) {
  std::vector<Row> rows;
  float top = 0;
  const auto add = [&](Row row, float height) {
    row.top = top;
    row.height = height;
    top += height;
    rows.push_back(row);
  };
  const auto add_counter = [&](Row row) {
    const CounterTrack& track = counters[row.counter];
    row.kind = RowKind::kCounter;
    row.group = GroupOf(timeline, track);
    row.name = {RowKind::kCounter, PidOf(timeline, track), static_cast<std::uint32_t>(track.kind)};
    add(row, heights.counter);
  };
  const auto add_lane = [&](Row row) {
    const Lane& lane = timeline.lanes[row.lane];
    row.kind = RowKind::kLevel;
    row.name = {RowKind::kLevel, timeline.groups[row.group].pid, lane.tid};
    for (row.level = 0; row.level < lane.levels.size(); ++row.level) {
      row.first_of_lane = row.level == 0;
      add(row, heights.level);
    }
  };
  for (const Pin pin : state.pins) {
    if (pin.kind == RowKind::kCounter) {
      const auto counter = CounterOf(timeline, counters, pin);
      if (!counter) continue;
      add_counter({.counter = *counter, .pinned = true});
    } else {
      const auto place = LaneOf(timeline, pin);
      if (!place) continue;
      add_lane({.group = place->group, .lane = place->lane, .pinned = true});
    }
    top += 3;
  }
  top = 0;
  const auto of_run = [](const CounterTrack& t) { return t.process == CounterTrack::kAll; };
  if (std::any_of(counters.begin(), counters.end(), of_run)) {
    add({.kind = RowKind::kGroup, .group = Row::kAllGroups}, heights.group);
    const bool folded = state.folded.contains(Row::kAllGroups);
    for (std::uint32_t c = 0; c < counters.size() && !folded; ++c) {
      if (of_run(counters[c])) add_counter({.counter = c});
    }
    top += heights.gap;
  }
  for (std::uint32_t g = 0; g < timeline.groups.size(); ++g) {
    const Group& group = timeline.groups[g];
    const auto first = static_cast<std::uint32_t>(group.lanes.front());
    add({.kind = RowKind::kGroup, .group = g, .lane = first}, heights.group);
    if (!state.folded.contains(g)) {
      for (const std::size_t lane : group.lanes) {
        add_lane({.group = g, .lane = static_cast<std::uint32_t>(lane)});
        top += 2;
      }
    }
    top += heights.gap;
  }
  return rows;
}

float PinnedHeight(const std::vector<Row>& rows) {
  float height = 0;
  for (const Row& row : rows) {
    if (row.pinned) height = std::max(height, row.top + row.height + 3);
  }
  return height;
}

RowMap::RowMap(const Timeline& timeline, const std::vector<Row>& rows)
    : lanes_(timeline.lanes.size()) {
  for (const Row& row : rows) {
    if (row.kind == RowKind::kLevel && row.first_of_lane && lanes_[row.lane].first == nullptr) {
      lanes_[row.lane].first = &row;
    }
    if (row.kind != RowKind::kGroup || row.group == Row::kAllGroups) continue;
    for (const std::size_t lane : timeline.groups[row.group].lanes) lanes_[lane].group = &row;
  }
}

const Row* RowMap::Of(SpanRef span) const {
  if (span.lane >= lanes_.size()) return nullptr;
  const Place& place = lanes_[span.lane];
  return place.first != nullptr ? place.first + span.level : place.group;
}

float ScrollTo(const std::vector<Row>& rows, SpanRef span, float scroll, float height) {
  for (const Row& row : rows) {
    if (row.kind != RowKind::kLevel || row.lane != span.lane || row.level != span.level) continue;
    if (row.pinned) return scroll;
    if (row.top < scroll) return std::max(0.0F, row.top - 40);
    if (row.top + row.height > scroll + height) return row.top + row.height + 40 - height;
    return scroll;
  }
  return scroll;
}

std::optional<ScrollThumb> ThumbOf(float height, float room, float scroll) {
  constexpr float kLeastThumb = 0.06F;  // a shorter thumb would hardly be seen
  if (height <= room || room <= 0) return std::nullopt;
  const float length = std::max(room / height, kLeastThumb);
  const float from = (1 - length) * std::clamp(scroll / (height - room), 0.0F, 1.0F);
  return ScrollThumb{from, from + length};
}

std::optional<SpanRef> SpanAt(const Timeline& timeline, const Row& row, std::int64_t at,
                              std::int64_t reach) {
  if (row.kind != RowKind::kLevel) return std::nullopt;
  const Level& level = timeline.lanes[row.lane].levels[row.level];
  std::optional<SpanRef> nearest;
  std::int64_t distance = reach + 1;
  const auto offer = [&](std::size_t i, std::int64_t away) {
    if (away >= distance) return;
    distance = away;
    nearest = SpanRef{row.lane, row.level, static_cast<std::uint32_t>(i)};
  };
  // The spans of a level do not overlap, so the nearest span covers `at` or is next to it.
  const std::size_t here = level.FirstEndingAfter(at);
  if (here < level.size()) offer(here, std::max<std::int64_t>(level.start[here] - at, 0));
  if (here > 0) offer(here - 1, at - level.end(here - 1));
  return nearest;
}

}  // namespace penstock::gui
