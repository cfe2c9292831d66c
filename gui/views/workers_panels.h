// SPDX-License-Identifier: Apache-2.0
//
// Panels of the workers view, one file each.
#pragma once

#include "gui/views/workspace.h"

namespace penstock::gui {

// A row for each worker: its time, its start, how it compares with the others, its memory.
void DrawWorkersTable(const Ui& ui, Workspace& workspace, const WorkersModel& model, Area area);

// Memory of each process over time, counted in the way that is chosen.
void DrawMemory(const Ui& ui, Workspace& workspace, const WorkersModel& model, Area area);

}  // namespace penstock::gui
