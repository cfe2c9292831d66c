// SPDX-License-Identifier: Apache-2.0
//
// Finds the functions in which slow samples, batches or steps spend more time than the others.
// Pure.
#pragma once

#include "analyzer/model/functions.h"

namespace penstock::analyzer {

// Compares the profile of the slow units with that of the others. Leaves out a function that takes
// hardly more time in a slow unit than in another one.
[[nodiscard]] SlowUnits SlowAgainstOthers(const FunctionProfile& slow,
                                          const FunctionProfile& others);

}  // namespace penstock::analyzer
