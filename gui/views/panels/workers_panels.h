// SPDX-License-Identifier: Apache-2.0
//
// Panels of the workers view, one file each.
#pragma once

#include "gui/model/panels/ranks.h"
#include "gui/views/workspace.h"

namespace penstock::gui {

// A row for each worker: its time, its start, how it compares with the others, its memory.
void DrawWorkersTable(const Ui& ui, Workspace& workspace, const WorkersModel& model, Area area);

// A row for each rank of a distributed run: who waits for data, and who waits for whom. Requires:
// model.lines is not empty.
void DrawRanksTable(const Ui& ui, const RanksModel& model, Area area);

// Memory of each process over time, counted in the way that is chosen.
void DrawMemory(const Ui& ui, Workspace& workspace, const WorkersModel& model, Area area);

}  // namespace penstock::gui
