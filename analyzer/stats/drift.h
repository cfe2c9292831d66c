// SPDX-License-Identifier: Apache-2.0
//
// Finds whether a rate still rises or falls at the end of a series. Pure functions.
#pragma once

#include <optional>
#include <span>

#include "analyzer/stats/bootstrap.h"

namespace penstock::analyzer {

// The rates of the first and of the last third of a series.
struct Drift {
  double first = 0;
  double last = 0;

  [[nodiscard]] double ratio() const { return first > 0 ? last / first : 1; }
  [[nodiscard]] bool rises() const { return last > first; }
};

struct DriftOptions {
  double ratio = 1.1;      // needed between the rates of the two thirds
  double step = 0.1;       // needed from each third to the next, as a part of the whole way
  std::size_t least = 32;  // intervals needed in each third
  double shortest = 2;     // seconds needed in each third
};

// The drift of the rate sum(amount) / sum(time) over a series.
//
// Estimator:   the rates of three parts with equally many intervals. There is a drift if the
//              confidence intervals of the first and the last part do not overlap, and if the rate
//              changes in the same direction from each part to the next. So neither a slow start
//              nor a slow part in the middle is a drift.
// Assumes:     as BootstrapRate, in each part.
// Few samples: nullopt below three times `least`.
// Shapes:      amount, time: [n] of the same length, >= 0.
// Source:      ours.
// Cost:        as two calls of BootstrapRate.
[[nodiscard]] std::optional<Drift> FindDrift(std::span<const double> amount,
                                             std::span<const double> time,
                                             const BootstrapOptions& bootstrap,
                                             const DriftOptions& options = {});

}  // namespace penstock::analyzer
