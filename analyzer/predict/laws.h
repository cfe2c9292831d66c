// SPDX-License-Identifier: Apache-2.0
//
// Laws that no rate can break, whatever a simulation says. Values; pure functions.
#pragma once

#include "analyzer/simulate/pipeline.h"
#include "analyzer/words/statement.h"

namespace penstock::analyzer {

// Costs are measured to some percent, and so is the rate of the recording (ours).
inline constexpr double kLawMargin = 1.05;

// What one sample of a pipeline's own loader takes at the least, with all that the loop does
// beside. Units: seconds.
struct LeastCosts {
  double cpu = 0;      // of all threads together
  double storage = 0;  // of the storage that all reads share
  double loop = 0;     // of the loop's thread, one batch after the other
};
// Requires: `steady` comes from SteadyPart(). Cost: O(batches + samples).
[[nodiscard]] LeastCosts LeastCostsOf(const Pipeline& steady);

// Which law `rate` (samples per second) breaks; empty: none.
[[nodiscard]] Statement BrokenLaw(const Pipeline& steady, double rate);

}  // namespace penstock::analyzer
