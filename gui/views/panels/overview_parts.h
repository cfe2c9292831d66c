// SPDX-License-Identifier: Apache-2.0
//
// The larger panels of the overview, one file each.
#pragma once

#include "analyzer/whatif/probes.h"
#include "gui/model/overview.h"
#include "gui/model/staircase.h"
#include "gui/views/workspace.h"

namespace penstock::gui {

// Draws the time of a batch as two bars of one scale: the making of the batch, and its use.
void DrawRibbon(const Ui& ui, const Analysis& analysis, Area area);
// Draws the plan: for each step a bar with its rate and confidence interval, what limits the run
// after it, and the line to paste.
void DrawPlan(const Ui& ui, Workspace& workspace, const Staircase& staircase, Area area);
[[nodiscard]] float PlanHeight(const Ui& ui, const Staircase& staircase, float width);
// Draws what experiments inside the run measured. The height is 0 if there were none.
void DrawProbes(const Ui& ui, const analyzer::Probes& probes, Area area);
[[nodiscard]] float ProbesHeight(const Ui& ui, const analyzer::Probes& probes, float width);
// Draws how fast the training loop ran over time, and how much of its time it waited. Requires: the
// analysis has a rate over time.
void DrawLoopRate(const Ui& ui, Workspace& workspace, Area area);
// Says what to change, what that gains and which line to paste; then what the run would gain if
// each part cost nothing. `planned`: the plan already says what to change. Returns the height that
// it needs to show everything.
float DrawSuggestion(const Ui& ui, Workspace& workspace, bool planned, Area area);
// Draws one finding at the cursor: title, advice, gain, a button to its evidence.
void DrawFinding(const Ui& ui, Workspace& workspace, const analyzer::Finding& finding, float width);
// Lists the findings, largest gain first, each with a link to its evidence. Returns the height that
// it needs to show everything.
float DrawFindings(const Ui& ui, Workspace& workspace, Area area);
// Draws a small map of the whole run and a summary of its stages. `busy`: a text that says what the
// program is doing. Requires: a timeline of a preview or of a whole trace.
void DrawPreview(const Ui& ui, const Workspace& workspace, std::string_view busy, Area area);

}  // namespace penstock::gui
