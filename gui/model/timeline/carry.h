// SPDX-License-Identifier: Apache-2.0
//
// Where a person was in a timeline, taken over into its successor: of a preview, or of a recording
// that has grown. Pure.
#pragma once

#include "gui/model/timeline/timeline_state.h"

namespace penstock::gui {

enum class Following : bool { kNo, kYes };

// Returns `state` as it is to be in `now`.
//
// Times keep their place in the run, even if something that began earlier has come to light. A view
// of everything stays one; one that showed the end follows it, if asked to. The span that was
// looked at is found again by its thread and its times; folded processes stay folded, by their
// pids. Pins have names that hold.
[[nodiscard]] TimelineState CarryOver(const Timeline& old, const Timeline& now,
                                      const TimelineState& state, Following following);

// Whether `view` shows the end of the trace.
[[nodiscard]] bool ShowsEnd(const TimeView& view);

// The last `length` of the trace, or all of it.
void ShowEnd(TimeView& view, std::int64_t length);

}  // namespace penstock::gui
