// SPDX-License-Identifier: Apache-2.0
//
// Order statistics and summaries of samples. Pure functions; no ownership; safe from any thread.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace penstock::analyzer {

// Returns the p-quantile of `sorted` by linear interpolation (Hyndman and Fan, type 7).
//
// Shapes:  sorted: [n], ascending, finite; n = 0 gives 0.
// Units:   those of the input; p is a fraction in [0, 1], not a percentage (clamped).
// Cost:    O(1), no allocation.
[[nodiscard]] double Quantile(std::span<const double> sorted, double p);

// Summary of a set of measurements. Everything is 0 for an empty set; `sd` is 0 below two values.
struct Summary {
  std::size_t count = 0;
  double sum = 0;
  double mean = 0;
  double sd = 0;  // standard deviation of the sample (n - 1)
  double median = 0;
  double mad = 0;  // median absolute deviation times 1.4826, which estimates sd for normal samples
  double p10 = 0;
  double p90 = 0;
  double p99 = 0;
  double min = 0;
  double max = 0;

  [[nodiscard]] double variation() const { return mean > 0 ? sd / mean : 0; }
};

// Summarises `values` (any order; non-finite ones are left out).
//
// Cost: O(n log n), one copy of the values.
[[nodiscard]] Summary Summarize(std::span<const double> values);

// Median of `values` (any order, finite); 0 if empty.
[[nodiscard]] double Median(std::vector<double> values);

}  // namespace penstock::analyzer
