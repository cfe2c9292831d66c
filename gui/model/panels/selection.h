// SPDX-License-Identifier: Apache-2.0
//
// What the stages come to inside a selected stretch, by the accounting of the report: own time, no
// span counted twice. Pure.
#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "gui/model/timeline/query.h"
#include "traces/trace.h"

namespace penstock::gui {

// Stages inside `range` (ns since the trace began), longest first: those of the report of this part
// of the trace, then those that no report lists (ranges of the program, calls of a driver). The
// whole range gives the report of the whole trace.
// Cost: that of analyzer::BuildRunModel of the part.
[[nodiscard]] std::vector<StageSum> SumsOf(std::shared_ptr<const traces::Trace> trace,
                                           TimeRange range, const std::stop_token& stop = {});

}  // namespace penstock::gui
