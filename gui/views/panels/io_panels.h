// SPDX-License-Identifier: Apache-2.0
//
// Panels of the I/O view, one file each.
#pragma once

#include <string>

#include "gui/views/workspace.h"

namespace penstock::gui {

// The table of files, each row a way to its slowest read in the timeline.
void DrawFiles(const Ui& ui, Workspace& workspace, const IoModel& io, Area area);

// In powers of 1024: "512 B", "76.1 KiB".
[[nodiscard]] std::string SizeText(double bytes);

}  // namespace penstock::gui
