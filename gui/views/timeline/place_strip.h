// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/views/workspace.h"

namespace penstock::gui {

// Draws one line at the top of `area`: the choice of a loader if there are several, which interval
// of the trace the view below shows, which span is chosen, and a link to them in the timeline.
// Returns the height of the line; 0: there is nothing to say.
float DrawPlaceStrip(const Ui& ui, Workspace& workspace, Area area);

}  // namespace penstock::gui
