// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/carry.h"

#include <algorithm>
#include <optional>

namespace penstock::gui {
namespace {

std::optional<SpanRef> Find(const Timeline& old, const Timeline& now, SpanRef span,
                            std::int64_t shift) {
  const std::int64_t start = old.start(span) + shift;
  const std::uint32_t tid = old.lanes[span.lane].tid;
  for (std::uint32_t l = 0; l < now.lanes.size(); ++l) {
    if (now.lanes[l].tid != tid) continue;
    // The span may be on another level: if its parent has been read since, it is one level lower.
    for (std::uint32_t v = 0; v < now.lanes[l].levels.size(); ++v) {
      const Level& level = now.lanes[l].levels[v];
      const std::size_t i = level.FirstStartingAt(start);
      if (i < level.size() && level.start[i] == start &&
          level.shape[i] == old.level(span).shape[span.index]) {
        return SpanRef{l, v, static_cast<std::uint32_t>(i)};
      }
    }
  }
  return std::nullopt;
}

std::set<std::uint32_t> Folded(const Timeline& old, const Timeline& now,
                               const std::set<std::uint32_t>& folded) {
  std::set<std::uint32_t> carried;
  for (const std::uint32_t group : folded) {
    if (group == Row::kAllGroups) carried.insert(group);
    if (group >= old.groups.size()) continue;
    for (std::uint32_t g = 0; g < now.groups.size(); ++g) {
      if (now.groups[g].pid == old.groups[group].pid) carried.insert(g);
    }
  }
  return carried;
}

}  // namespace

bool ShowsEnd(const TimeView& view) {
  const TimeRange range = view.range();
  return range.to >= view.trace_length() - range.length() / 100;
}

void ShowEnd(TimeView& view, std::int64_t length) {
  const std::int64_t end = view.trace_length();
  view.Show({end - length, end});
}

TimelineState CarryOver(const Timeline& old, const Timeline& now, const TimelineState& state,
                        Following following) {
  TimelineState carried = state;
  const std::int64_t shift = old.begin - now.begin;
  const TimeRange range = state.view.range();
  carried.view = TimeView(now.length);
  if (range.length() < state.view.trace_length()) {
    if (following == Following::kYes && ShowsEnd(state.view)) {
      ShowEnd(carried.view, range.length());
    } else {
      carried.view.Show(Shifted(range, shift));
    }
  }
  if (carried.selection) carried.selection = Shifted(*carried.selection, shift);
  for (auto& mark : carried.bookmarks) {
    if (mark) mark = Shifted(*mark, shift);
  }
  for (Note& note : carried.notes) note.range = Shifted(note.range, shift);
  for (std::vector<TimeRange>* jumps : {&carried.back, &carried.ahead}) {
    for (TimeRange& jump : *jumps) jump = Shifted(jump, shift);
  }
  if (carried.span) carried.span = Find(old, now, *state.span, shift);
  carried.folded = Folded(old, now, state.folded);
  return carried;
}

}  // namespace penstock::gui
