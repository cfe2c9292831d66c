// SPDX-License-Identifier: Apache-2.0
//
// Panels of the stages view and of its half about functions, one file each.
#pragma once

#include <optional>
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

// The other half of the view: where the time of the program's functions goes.
void DrawFunctions(const Ui& ui, Workspace& workspace, Area area);

// What of a profile is shown.
struct FlameView {
  const UnitProfile& profile;
  FunctionId chosen;                 // whose row and source are marked
  std::optional<std::size_t> frame;  // of it, in the flame graph; none: it is too small
  std::optional<std::size_t> zoomed;
};

// "A sample", "per sample".
[[nodiscard]] const char* UnitName(const Ui& ui, traces::StageId stage);
[[nodiscard]] const char* PerUnit(const Ui& ui, traces::StageId stage);
// The colour of a frame: that of its file, paler of libraries, grey of what is not Python.
[[nodiscard]] Rgb FunctionColour(const Ui& ui, const FunctionId& id);

// The flame graph with its keys. A click zooms in and chooses.
void DrawFlame(const Ui& ui, Workspace& workspace, const FlameView& view, Area area);
[[nodiscard]] float FlameHeight(const Ui& ui, const UnitProfile& profile);
// Functions by time, or what slow units do more. A click chooses.
void DrawFunctionTable(const Ui& ui, Workspace& workspace, const FlameView& view, Area area);
// The source of the chosen function, or of that of the program which calls it.
void DrawFunctionSource(const Ui& ui, Workspace& workspace, const FlameView& view, Area area);

}  // namespace penstock::gui
