// SPDX-License-Identifier: Apache-2.0
//
// The panels of the GPU view; one file each.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <limits>
#include <string>

#include "gui/views/workspace.h"

namespace penstock::gui {

// Says what was not recorded, and which command records it.
void DrawGpuNothing(const Ui& ui, Workspace& workspace, const GpuModel& gpu, Area area);

// Draws one bar with the time of computing and of each cause of idleness, and its legend. The title
// names the rank that the times are of.
void DrawGpuTime(const Ui& ui, const analyzer::Report& report, const GpuModel& gpu, Area area);

// Lists copies by kind above kernels by name. Each row links to its longest one.
void DrawGpuTables(const Ui& ui, Workspace& workspace, const GpuModel& gpu, Area area);
// The height in which DrawGpuTables() shows all copies, and all kernels or calls up to `most`.
[[nodiscard]] float GpuTablesHeight(const Ui& ui, const GpuModel& gpu,
                                    std::size_t most = std::numeric_limits<std::size_t>::max());

// Draws the counter of the driver that the user chose over time; one line if there is none.
void DrawGpuCounters(const Ui& ui, Workspace& workspace, const GpuModel& gpu, Area area);

// Whether a selection is shown and the whole trace has spans of one of these stages. If so, a panel
// without such spans says that the selection has none. If not, it says that none were recorded.
[[nodiscard]] bool RecordedElsewhere(const Workspace& workspace,
                                     std::initializer_list<traces::StageId> stages);

[[nodiscard]] Text NameOf(IdleCause cause);
// A short name for a cell: "to the GPU, pageable".
[[nodiscard]] std::string KindName(const Ui& ui, const CopyRow& row);

}  // namespace penstock::gui
