// SPDX-License-Identifier: Apache-2.0
//
// The ablation table: the cost of each step of a loader, cumulatively and alone. Pure.
#pragma once

#include <vector>

#include "benchmarks/sweep/result.h"

namespace penstock::sweep {

// Returns the configurations of the table. Each is pending or unavailable, and names in `against`
// the configuration to compare it with. `gpu`: whether there is a device for copies.
[[nodiscard]] std::vector<CellResult> AblationCells(bool gpu);

}  // namespace penstock::sweep
