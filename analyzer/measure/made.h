// SPDX-License-Identifier: Apache-2.0
//
// Compares the costs of batches of one kind with those of other batches, and subtracts the extra
// costs of the first kind. Values.
#pragma once

#include <span>
#include <vector>

#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// The sum of batches of one kind.
struct Made {
  std::vector<double> services;  // seconds for each sample, by batch
  double samples = 0;
  Demand sum;  // only its parts are set

  // Requires: demand.samples > 0.
  void Add(const Demand& demand);
  void Add(const Made& more);
  // Mean seconds for each sample.
  [[nodiscard]] double mean() const { return samples > 0 ? sum.service() / samples : 0; }
};

// Scales each part of `batches`. The scale is chosen such that the batches of `own` would take as
// long for a sample, on average, as those of `usual`. Parts that did not take longer in `own` keep
// their values. Returns, by part, the sum of the extra time in `own`.
// Requires: usual.samples > 0.
[[nodiscard]] Demand TakeOffBeyond(const Made& own, const Made& usual,
                                   std::span<Demand* const> batches);

}  // namespace penstock::analyzer
