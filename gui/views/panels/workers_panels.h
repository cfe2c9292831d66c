// SPDX-License-Identifier: Apache-2.0
//
// The panels of the workers view; one file each.
#pragma once

#include "gui/model/panels/ranks.h"
#include "gui/views/workspace.h"

namespace penstock::gui {

// Draws a row for each worker: its time, its start, its speed compared with the others, its memory;
// without workers, a line that says why there are none.
void DrawWorkersTable(const Ui& ui, Workspace& workspace, const WorkersModel& model, Area area);

// Draws a row for each rank of a distributed run: which ranks wait for data, and which for other
// ranks. Requires: model.lines is not empty.
void DrawRanksTable(const Ui& ui, const RanksModel& model, Area area);

// Draws the memory of each process over time, with buttons that choose how memory is counted
// (MemoryKind).
void DrawMemory(const Ui& ui, Workspace& workspace, const WorkersModel& model, Area area);

}  // namespace penstock::gui
