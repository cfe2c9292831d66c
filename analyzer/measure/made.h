// SPDX-License-Identifier: Apache-2.0
//
// Batches of one kind beside others: what some took beyond the rest is taken off them, to be put
// where it belongs. Values.
#pragma once

#include <span>
#include <vector>

#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// Batches of one kind, together.
struct Made {
  std::vector<double> services;  // seconds for each sample, by batch
  double samples = 0;
  Demand sum;  // its parts only

  // Requires: demand.samples > 0.
  void Add(const Demand& demand);
  void Add(const Made& more);
  // Seconds for each sample.
  [[nodiscard]] double mean() const { return samples > 0 ? sum.service() / samples : 0; }
};

// Makes each part of `batches` cheaper by what `own` took for it beyond `usual`, sample for sample;
// what took no longer stays. Returns what `own` took beyond, in all: its parts.
// Requires: usual.samples > 0.
[[nodiscard]] Demand TakeOffBeyond(const Made& own, const Made& usual,
                                   std::span<Demand* const> batches);

}  // namespace penstock::analyzer
