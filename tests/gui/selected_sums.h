// SPDX-License-Identifier: Apache-2.0
//
// How much time the stages take inside an interval, as a report on this part of the trace counts
// it. The sums of the dashboard must be these.
#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "gui/model/timeline/query.h"
#include "traces/trace.h"

namespace penstock::gui {

// The stages inside `range` (ns since the trace began), longest first: the stages that a report on
// this part of the trace would list, and the stages that no report lists (ranges of the program,
// calls of a driver). If `range` is the whole trace, the times are those of its report. Cost: that
// of analyzer::BuildRunModel for the part.
[[nodiscard]] std::vector<StageSum> SumsOf(std::shared_ptr<const traces::Trace> trace,
                                           TimeRange range, const std::stop_token& stop = {});

}  // namespace penstock::gui
