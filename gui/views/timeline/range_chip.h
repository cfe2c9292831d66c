// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/views/workspace.h"

namespace penstock::gui {

// One line at the top of `area`: which stretch of the trace the view below is about, a way to it in
// the timeline, and a way back to the whole trace. Returns the height that it takes.
//
// Requires: workspace.Range().
float DrawRangeChip(const Ui& ui, Workspace& workspace, Area area);

}  // namespace penstock::gui
