// SPDX-License-Identifier: Apache-2.0
//
// The run that the parts of gui_timeline_bench measure: made at its first use, then the same.
#pragma once

#include <memory>

#include "gui/model/timeline/timeline.h"
#include "traces/trace.h"

namespace penstock::gui {

const std::shared_ptr<const traces::Trace>& BenchRun();
const std::shared_ptr<const Timeline>& BenchTimeline();

}  // namespace penstock::gui
