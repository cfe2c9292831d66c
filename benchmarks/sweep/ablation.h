// SPDX-License-Identifier: Apache-2.0
//
// The ablation table: the cost of each step of a loader, cumulatively and alone. Pure.
#pragma once

#include <vector>

#include "benchmarks/sweep/result.h"

namespace penstock::sweep {

// The configurations, pending or unavailable, each with the configuration to compare it with.
// `gpu`: whether there is a device for copies.
[[nodiscard]] std::vector<CellResult> AblationCells(bool gpu);

}  // namespace penstock::sweep
