// SPDX-License-Identifier: Apache-2.0
//
// The loader once more, slowly and obviously: at every moment each actor is asked whether it can go
// on, and then all that are busy move on by the shortest time that any of them needs. It shares
// nothing with analyzer/simulate/*.cc but the inputs.
#pragma once

#include "analyzer/simulate/simulate.h"

namespace penstock::analyzer::testing {

// Requires: as RunWorkers() and RunThreads(); no two things happen at the same time.
[[nodiscard]] Timeline SlowWorkers(const Sequence& sequence);
[[nodiscard]] Timeline SlowThreads(const Sequence& sequence);

}  // namespace penstock::analyzer::testing
