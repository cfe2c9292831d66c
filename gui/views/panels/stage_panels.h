// SPDX-License-Identifier: Apache-2.0
//
// The panels of the stages view; one file each.
#pragma once

#include <string>

#include "gui/views/workspace.h"

namespace penstock::gui {

// The title of a row: a stage in the window's language, a part under its own name.
[[nodiscard]] std::string TitleOf(const Ui& ui, const StageLine& line, std::size_t most);

// Draws durations on a log scale with the median and the tail marked. A click on a bar lists its
// calls.
void DrawHistogram(const Ui& ui, Workspace& workspace, const StageLine& line, Area area);

// Lists the slowest calls of the row, or those of the chosen bar. Each links to the timeline.
void DrawTail(const Ui& ui, Workspace& workspace, const StageLine& line, Area area);

}  // namespace penstock::gui
