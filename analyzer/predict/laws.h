// SPDX-License-Identifier: Apache-2.0
//
// Laws that no rate can break, whatever a simulation predicts. Values; pure functions.
#pragma once

#include "analyzer/simulate/pipeline.h"
#include "analyzer/words/statement.h"

namespace penstock::analyzer {

// Tolerance (ours): costs and the rate of the recording are measured with errors of a few percent.
inline constexpr double kLawMargin = 1.05;

// The least time for one sample of the pipeline's main loader. It includes the work of the loop and
// of other loaders, divided by the number of these samples.
// Units: seconds.
struct LeastCosts {
  double cpu = 0;      // CPU time of all threads together
  double storage = 0;  // time of the storage that all reads share
  double loop = 0;     // time of the loop's thread, which takes one batch after the other
};
// Requires: `steady` comes from SteadyPart(). Cost: O(batches + samples).
[[nodiscard]] LeastCosts LeastCostsOf(const Pipeline& steady);

// The law that `rate` (samples per second) breaks, or why no rate can be predicted; empty: `rate`
// breaks no law.
[[nodiscard]] Statement BrokenLaw(const Pipeline& steady, double rate);

}  // namespace penstock::analyzer
