// SPDX-License-Identifier: Apache-2.0
//
// Panels of the stages view, one file each.
#pragma once

#include <string>

#include "gui/views/workspace.h"

namespace penstock::gui {

// What a row is called: a stage in the window's language, a part by its own name.
[[nodiscard]] std::string TitleOf(const Ui& ui, const StageLine& line, std::size_t most);

// Durations on a log scale, with the median and the tail marked. A click on a bar chooses its
// calls.
void DrawHistogram(const Ui& ui, Workspace& workspace, const StageLine& line, Area area);

// The slowest calls of the row, or those of the chosen bar, each a way into the timeline.
void DrawTail(const Ui& ui, Workspace& workspace, const StageLine& line, Area area);

}  // namespace penstock::gui
