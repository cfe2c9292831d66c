// SPDX-License-Identifier: Apache-2.0
//
// A second simulator of the loader, which is slow but simple. In each round it asks every actor
// whether it can go on. Then time advances by the shortest time that a busy actor needs. It shares
// only the inputs with analyzer/simulate/*.cc.
#pragma once

#include "analyzer/simulate/simulate.h"

namespace penstock::analyzer::testing {

// Requires: as RunWorkers() and RunThreads(); no two things happen at the same time.
[[nodiscard]] Timeline SlowWorkers(const Sequence& sequence);
[[nodiscard]] Timeline SlowThreads(const Sequence& sequence);

}  // namespace penstock::analyzer::testing
