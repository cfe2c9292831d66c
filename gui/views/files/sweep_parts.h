// SPDX-License-Identifier: Apache-2.0
//
// Panels of the sweep view; one file each. Requires: a sweep is open.
#pragma once

#include "gui/views/workspace.h"

namespace penstock::gui {

// The grid as coloured cells; returns the cell under the pointer.
std::optional<std::size_t> DrawSweepMap(const Ui& ui, SweepViewState& state, Area area);
void DrawSweepCurves(const Ui& ui, const SweepViewState& state, Area area);
// Bars of an ablation: what each step adds to a sample.
void DrawSweepSteps(const Ui& ui, const SweepViewState& state, Area area);
void DrawSweepTable(const Ui& ui, SweepViewState& state, Area area);
// All that is known of one cell, what to paste, and the way to its trace.
void DrawSweepCell(const Ui& ui, Workspace& workspace, std::size_t cell, Area area);

// Colour of a row of the map in the curves.
[[nodiscard]] Rgb CurveColour(const Ui& ui, std::size_t row);

}  // namespace penstock::gui
