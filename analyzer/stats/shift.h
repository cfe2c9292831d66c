// SPDX-License-Identifier: Apache-2.0
//
// Finds where a series changes to another level and stays there. Pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace penstock::analyzer {

struct ShiftOptions {
  std::size_t least = 8;  // values needed on each side
  double ratio = 1.25;    // needed between the medians of the two sides
  double apart = 0.95;    // needed probability that a value of one side exceeds one of the other
};

// The places where `values` change to another level that lasts until the next such place, or until
// the end. Ascending; empty if all values keep to one level.
//
// Estimator:   a shift is at the place where the sum of ranks differs most from the sum for a
//              series with one level (Pettitt). The difference is measured in its standard
//              deviations, so the shifts of a staircase are at its steps. Both sides must differ as
//              much as `options` require. The medians of the values just before and after the place
//              (`least` of them, but at most a sixth of the series) must be at least half as far
//              apart as the medians of the sides. A series that drifts evenly has no such place.
//              The parts before and after a shift are examined in the same way.
// Assumes:     the same noise on both sides, of any distribution. No probability of error is given,
//              because the errors of neighbouring values may be correlated.
// Few samples: empty below twice `least`.
// Shapes:      values: [n], > 0.
// Source:      A. N. Pettitt, J. Royal Statist. Soc. C 28 (1979).
// Cost:        O(n log n) for each level.
[[nodiscard]] std::vector<std::size_t> FindShifts(std::span<const double> values,
                                                  const ShiftOptions& options = {});

}  // namespace penstock::analyzer
