// SPDX-License-Identifier: Apache-2.0
//
// A stretch of a trace as a trace of its own: whatever can be said of a run can be said of a part
// of it. It shares the spans of the whole, which it keeps alive; immutable, safe from several
// threads.
#pragma once

#include <memory>
#include <stop_token>

#include "gui/model/timeline/query.h"
#include "traces/trace.h"

namespace penstock::gui {

// Begins and ends where `range` does. Spans that stick out are cut, their CPU time and bytes with
// them; of counters the last value before and the first one after are there too, so that rates are
// right up to the edges. Facts, coverage and losses are those of the whole trace. StringIds and
// times are the same as in the whole.
//
// Requires: range is not empty. Units: ns since the whole trace began.
// Cost:     one pass over the spans. When `stop` is requested, spans end early.
[[nodiscard]] std::unique_ptr<traces::Trace> SliceTrace(std::shared_ptr<const traces::Trace> whole,
                                                        TimeRange range, std::stop_token stop = {});

}  // namespace penstock::gui
