// SPDX-License-Identifier: Apache-2.0
//
// The larger panels of the overview, one file each.
#pragma once

#include "gui/model/overview.h"
#include "gui/model/staircase.h"
#include "gui/views/workspace.h"

namespace penstock::gui {

// A batch's way as two bars of one scale: making it, using it.
void DrawRibbon(const Ui& ui, const Ribbon& ribbon, Area area);
// The plan: a bar for each step with its rate and interval, what then limits, the line to paste.
void DrawPlan(const Ui& ui, Workspace& workspace, const Staircase& staircase, Area area);
[[nodiscard]] float PlanHeight(const Ui& ui, const Staircase& staircase, float width);
// What to change, what that gains, the line to paste; and what each part would gain by being free.
// `planned`: the plan has said what to change.
void DrawSuggestion(const Ui& ui, Workspace& workspace, bool planned, Area area);
// One finding at the cursor: title, advice, gain, a button to its evidence.
void DrawFinding(const Ui& ui, Workspace& workspace, const analyzer::Finding& finding, float width);
// Findings, largest gain first, each with a way to its evidence.
void DrawFindings(const Ui& ui, Workspace& workspace, Area area);
// The whole run from afar and what its stages come to; `busy` says what is being done meanwhile.
// Requires: a timeline, of a preview or whole.
void DrawPreview(const Ui& ui, const Workspace& workspace, std::string_view busy, Area area);

}  // namespace penstock::gui
