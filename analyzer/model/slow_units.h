// SPDX-License-Identifier: Apache-2.0
//
// What slow samples, batches or steps do more than the others. Pure.
#pragma once

#include "analyzer/model/functions.h"

namespace penstock::analyzer {

// From the profiles of the slow units alone and of the others alone. A function of which a slow
// unit has hardly more than another one is left out.
[[nodiscard]] SlowUnits SlowAgainstOthers(const FunctionProfile& slow,
                                          const FunctionProfile& others);

}  // namespace penstock::analyzer
