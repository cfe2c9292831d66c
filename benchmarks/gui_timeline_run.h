// SPDX-License-Identifier: Apache-2.0
//
// The run that all parts of gui_timeline_bench measure. It is made at its first use.
#pragma once

#include <memory>

#include "gui/model/timeline/timeline.h"
#include "traces/trace.h"

namespace penstock::gui {

const std::shared_ptr<const traces::Trace>& BenchRun();
const std::shared_ptr<const Timeline>& BenchTimeline();

}  // namespace penstock::gui
