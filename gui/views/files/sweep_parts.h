// SPDX-License-Identifier: Apache-2.0
//
// The panels of the sweep view; one file each. Requires: a sweep is open.
#pragma once

#include "gui/views/workspace.h"

namespace penstock::gui {

// Draws the grid as coloured cells; returns the cell under the pointer.
std::optional<std::size_t> DrawSweepMap(const Ui& ui, SweepViewState& state, Area area);
void DrawSweepCurves(const Ui& ui, const SweepViewState& state, Area area);
// Draws the bars of an ablation: the time that each step adds to a sample.
void DrawSweepSteps(const Ui& ui, const SweepViewState& state, Area area);
void DrawSweepTable(const Ui& ui, SweepViewState& state, Area area);
// Shows everything known about a cell, a line to paste, and a link to its trace.
void DrawSweepCell(const Ui& ui, Workspace& workspace, std::size_t cell, Area area);

// The colour of a map's row in the curves.
[[nodiscard]] Rgb CurveColour(const Ui& ui, std::size_t row);

}  // namespace penstock::gui
