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
  double apart = 0.95;  // needed probability that a value of one side lies beyond one of the other
};

// The places where `values` change to another level that lasts until their end, or until the next
// such place. Ascending; empty if they keep to one level.
//
// Estimator:   the place where the sum of ranks differs most from that of one level (Pettitt), in
//              its standard deviations, so that a staircase has its places at the steps; as long as
//              both sides are as far apart as `options` ask, and the `least` values before
//              and after it are half as far apart: a series that drifts has no such place. Then the
//              same in what lies before and behind it, until each part keeps to one level.
// Assumes:     noise that is the same on both sides; no distribution of it. No probability of error
//              is given: neighbours may err together. Sides that are `apart` are told by eye.
// Few samples: empty below twice `least`.
// Shapes:      values: [n], > 0.
// Source:      A. N. Pettitt, J. Royal Statist. Soc. C 28 (1979).
// Cost:        O(n log n) for each level.
[[nodiscard]] std::vector<std::size_t> FindShifts(std::span<const double> values,
                                                  const ShiftOptions& options = {});

}  // namespace penstock::analyzer
