// SPDX-License-Identifier: Apache-2.0
//
// The parts of the what-if view.
#pragma once

#include "gui/views/workspace.h"

namespace penstock::gui {

// Draws the sliders and boxes that change workspace.whatif.chosen.
void DrawWhatIfChoices(const Ui& ui, Workspace& workspace, Area area);

}  // namespace penstock::gui
