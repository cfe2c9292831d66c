// SPDX-License-Identifier: Apache-2.0
//
// Carries a person's place in a timeline over to its successor: from a preview to the whole, or to
// a recording that has grown. Pure.
#pragma once

#include "gui/model/timeline/timeline_state.h"

namespace penstock::gui {

enum class Following : bool { kNo, kYes };

// Returns `state` as it is to be in `now`.
//
// Times stay at the same moments of the run, even if `now` begins earlier than `old`. A view of the
// whole trace becomes a view of the whole new trace. A view of the end moves along with the end, if
// `following` says so. The selected span is found again by its thread and its times, folded
// processes by their pids. Pins have names that stay valid.
[[nodiscard]] TimelineState CarryOver(const Timeline& old, const Timeline& now,
                                      const TimelineState& state, Following following);

// Whether `view` shows the end of the trace.
[[nodiscard]] bool ShowsEnd(const TimeView& view);

// Shows the last `length` of the trace, or all of it if it is shorter.
void ShowEnd(TimeView& view, std::int64_t length);

}  // namespace penstock::gui
