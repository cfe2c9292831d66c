// SPDX-License-Identifier: Apache-2.0
//
// The panels of the I/O view; one file each.
#pragma once

#include <string>

#include "gui/views/workspace.h"

namespace penstock::gui {

// Draws the table of files. Each row links to its slowest read in the timeline.
void DrawFiles(const Ui& ui, Workspace& workspace, const IoModel& io, Area area);

// A size in powers of 1024: "512 B", "76.1 KiB".
[[nodiscard]] std::string SizeText(double bytes);

}  // namespace penstock::gui
