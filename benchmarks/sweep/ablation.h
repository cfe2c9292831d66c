// SPDX-License-Identifier: Apache-2.0
//
// The classic table: what each step of a loader costs, one after the other and each alone. Pure.
#pragma once

#include <vector>

#include "benchmarks/sweep/result.h"

namespace penstock::sweep {

// The configurations, pending or unavailable, each with what it is compared against. `gpu`: there
// is a device to copy to.
[[nodiscard]] std::vector<CellResult> AblationCells(bool gpu);

}  // namespace penstock::sweep
