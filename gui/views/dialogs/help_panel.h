// SPDX-License-Identifier: Apache-2.0
//
// The list of keys.
#pragma once

#include "gui/model/settings.h"
#include "gui/widgets/ui.h"

namespace penstock::gui {

// Shows keys and mouse, and lets the user choose what the wheel does. Clears *open when it is
// closed.
void DrawHelp(const Ui& ui, bool* open, Wheel* wheel);

}  // namespace penstock::gui
