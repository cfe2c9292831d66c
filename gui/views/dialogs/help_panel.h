// SPDX-License-Identifier: Apache-2.0
//
// The list of keys.
#pragma once

#include "gui/model/settings.h"
#include "gui/widgets/ui.h"

namespace penstock::gui {

// Keys and mouse, and what the wheel is to do. Clears *open when it is closed.
void DrawHelp(const Ui& ui, bool* open, Wheel* wheel);

}  // namespace penstock::gui
