// SPDX-License-Identifier: Apache-2.0
//
// An interval of a trace as its own trace, so that all that analyses a run can analyse a part of
// it. It shares the spans of the whole trace and keeps the whole trace alive. Immutable; safe from
// several threads.
#pragma once

#include <memory>
#include <stop_token>

#include "gui/model/timeline/query.h"
#include "traces/trace.h"

namespace penstock::gui {

// Makes the trace of `range`. Spans that reach out of the range are cut; their CPU time and bytes
// are reduced in proportion. Counters keep their last value before the range and their first value
// after it, so that rates are right up to the edges. Facts, coverage, losses, StringIds and times
// are those of the whole trace.
//
// Requires: range is not empty. Units: ns since the whole trace began.
// Cost:     one pass over the spans. When `stop` is requested, spans end early.
[[nodiscard]] std::unique_ptr<traces::Trace> SliceTrace(std::shared_ptr<const traces::Trace> whole,
                                                        TimeRange range, std::stop_token stop = {});

}  // namespace penstock::gui
