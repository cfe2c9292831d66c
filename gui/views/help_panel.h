// SPDX-License-Identifier: Apache-2.0
//
// The list of keys.
#pragma once

#include "gui/widgets/ui.h"

namespace penstock::gui {

// Draws it over everything; sets `*open` to false when it is closed.
void DrawHelp(const Ui& ui, bool* open);

}  // namespace penstock::gui
