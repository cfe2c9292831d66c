// SPDX-License-Identifier: Apache-2.0
//
// Panels of the stages view, and panels of its functions half. Each has its own file.
#pragma once

#include <optional>
#include <string>

#include "gui/views/workspace.h"

namespace penstock::gui {

// Draws durations on a log scale with the median and the tail marked. A click on a bar lists its
// calls.
void DrawHistogram(const Ui& ui, Workspace& workspace, const StageLine& line, Area area);

// Lists the slowest calls of the row, or those of the chosen bar. Each links to the timeline.
void DrawTail(const Ui& ui, Workspace& workspace, const StageLine& line, Area area);

// Draws the functions half of the view: where the program's functions spend their time.
void DrawFunctions(const Ui& ui, Workspace& workspace, Area area);

// A profile, with the chosen function and frames.
struct FlameView {
  const UnitProfile& profile;
  FunctionId chosen;                 // the function whose row and source are shown
  std::optional<std::size_t> frame;  // the frame of `chosen`; none if it has no frame
  std::optional<std::size_t> zoomed;
};

// "A sample", "per sample".
[[nodiscard]] const char* UnitName(const Ui& ui, traces::StageId stage);
[[nodiscard]] const char* PerUnit(const Ui& ui, traces::StageId stage);
// The colour of a frame: by file for the program's functions, one colour for libraries, grey for
// compiled functions.
[[nodiscard]] Rgb FunctionColour(const Ui& ui, const FunctionId& id);

// Draws the flame graph and handles its keys. A click zooms in and chooses.
void DrawFlame(const Ui& ui, Workspace& workspace, const FlameView& view, Area area);
[[nodiscard]] float FlameHeight(const Ui& ui, const UnitProfile& profile);
// "4 of 16 take more than 1.5 times the median ...".
[[nodiscard]] std::string SlowNote(const Ui& ui, const analyzer::SlowUnits& slow);
// Draws functions by time, or slow units against the others. A click chooses.
void DrawFunctionTable(const Ui& ui, Workspace& workspace, const FlameView& view, Area area);
// Draws the source of the chosen function, or of its nearest caller that has a row in the table.
void DrawFunctionSource(const Ui& ui, Workspace& workspace, const FlameView& view, Area area);

}  // namespace penstock::gui
