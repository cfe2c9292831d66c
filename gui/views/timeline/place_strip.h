// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/views/workspace.h"

namespace penstock::gui {

// Draws one line at the top of `area`: which interval of the trace the view below shows, a link to
// it in the timeline, and one back to the whole trace. Returns the height of the line.
//
// Requires: workspace.Range().
float DrawRangeChip(const Ui& ui, Workspace& workspace, Area area);

}  // namespace penstock::gui
