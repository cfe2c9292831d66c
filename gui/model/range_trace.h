// SPDX-License-Identifier: Apache-2.0
//
// An interval of a trace as its own trace: whatever can be said about a run can be said about a
// part of it. It shares the spans of the whole trace and keeps that alive; immutable, safe from
// several threads.
#pragma once

#include <memory>
#include <stop_token>

#include "gui/model/timeline/query.h"
#include "traces/trace.h"

namespace penstock::gui {

// Makes the trace of `range`. Spans that reach out of it are cut, and their CPU time and bytes in
// proportion. Counters keep the last value before and the first one after it, so that rates are
// right up to the edges. Facts, coverage and losses are those of the whole trace; so are StringIds
// and times.
//
// Requires: range is not empty. Units: ns since the whole trace began.
// Cost:     one pass over the spans. When `stop` is requested, spans end early.
[[nodiscard]] std::unique_ptr<traces::Trace> SliceTrace(std::shared_ptr<const traces::Trace> whole,
                                                        TimeRange range, std::stop_token stop = {});

}  // namespace penstock::gui
