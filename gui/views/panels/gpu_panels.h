// SPDX-License-Identifier: Apache-2.0
//
// Panels of the GPU view, one file each.
#pragma once

#include "gui/views/workspace.h"

namespace penstock::gui {

// What was not recorded, and the command that records it.
void DrawGpuNothing(const Ui& ui, Workspace& workspace, const GpuModel& gpu, Area area);

// One bar: computing, and why not, with its legend.
void DrawGpuTime(const Ui& ui, const GpuModel& gpu, Area area);

// Copies by kind, above kernels by name; each row a way to its longest one.
void DrawGpuTables(const Ui& ui, Workspace& workspace, const GpuModel& gpu, Area area);

// One counter of the driver over time, chosen by its name.
void DrawGpuCounters(const Ui& ui, Workspace& workspace, const GpuModel& gpu, Area area);

[[nodiscard]] Text NameOf(IdleCause cause);
// "to the GPU, pageable": short, for a cell.
[[nodiscard]] std::string KindName(const Ui& ui, const CopyRow& row);

}  // namespace penstock::gui
