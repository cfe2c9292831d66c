// SPDX-License-Identifier: Apache-2.0
//
// How much time the stages take inside a selected interval, counted as in the report: own time, no
// span twice. Pure.
#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "gui/model/timeline/query.h"
#include "traces/trace.h"

namespace penstock::gui {

// The stages inside `range` (ns since the trace began), longest first: those in the report of this
// part of the trace, then those that no report lists (ranges of the program, calls of a driver).
// For the whole range it is the report of the whole trace. Cost: that of analyzer::BuildRunModel
// for the part.
[[nodiscard]] std::vector<StageSum> SumsOf(std::shared_ptr<const traces::Trace> trace,
                                           TimeRange range, const std::stop_token& stop = {});

}  // namespace penstock::gui
