// SPDX-License-Identifier: Apache-2.0
//
// The paths along which functions were called, from the call trees of followed units. Pure.
#pragma once

#include <vector>

#include "analyzer/model/follow_correction.h"
#include "analyzer/model/function_sums.h"
#include "analyzer/model/functions.h"

namespace penstock::analyzer {

// The paths of all units. Equal paths are merged, and parents come before their children. Leaves
// out paths with less than 0.5 % of the units' time. The totals of their parents still include that
// time.
[[nodiscard]] std::vector<CallPath> PathsOf(const traces::Trace& trace, const FollowedUnits& units,
                                            const FollowCorrection& correction);

}  // namespace penstock::analyzer
