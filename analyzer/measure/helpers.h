// SPDX-License-Identifier: Apache-2.0
//
// What processes compute for a loader that are no workers of one: a pool that the dataset starts, a
// program that it calls for each sample, a server. Pure.
#pragma once

#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"

namespace penstock::analyzer {

// CPU seconds per second in the windows of all epochs. 0: there are none, or nothing is known.
struct HelpersCpu {
  double recorded = 0;  // RunModel::helpers
  double unseen = 0;    // of which the kernel told the process that waited for them alone
  [[nodiscard]] double sum() const { return recorded + unseen; }
};

// Counts what works for the main loader.
[[nodiscard]] HelpersCpu MeasureHelpers(const RunModel& model, const SteadyState& steady);

}  // namespace penstock::analyzer
