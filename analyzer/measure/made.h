// SPDX-License-Identifier: Apache-2.0
//
// Batches of one kind beside others. What some of them cost beyond the others is subtracted, and
// put where it belongs. Values.
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

// Makes each part of `batches` cheaper by the time per sample that `own` took for it beyond
// `usual`. Parts that took no longer stay. Returns the sum, by part, of what `own` took beyond
// `usual`.
// Requires: usual.samples > 0.
[[nodiscard]] Demand TakeOffBeyond(const Made& own, const Made& usual,
                                   std::span<Demand* const> batches);

}  // namespace penstock::analyzer
