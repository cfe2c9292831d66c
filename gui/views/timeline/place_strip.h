// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/views/workspace.h"

namespace penstock::gui {

// Draws one line at the top of `area`: a list of loaders if there are several, the interval that
// the view below shows, the chosen span, and a link to them in the timeline. Returns the height of
// the line; 0: there is nothing to say.
float DrawPlaceStrip(const Ui& ui, Workspace& workspace, Area area);

}  // namespace penstock::gui
