// SPDX-License-Identifier: Apache-2.0
//
// Confidence intervals for means and rates by resampling. Randomness comes in as a seed: the same
// seed gives the same answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace penstock::analyzer {

// An estimate with its confidence interval.
struct Interval {
  double estimate = 0;
  double low = 0;
  double high = 0;
};

struct BootstrapOptions {
  std::size_t resamples = 400;
  double confidence = 0.9;  // two-sided
  std::size_t block = 1;    // values that are drawn together, because neighbours are correlated
  std::uint64_t seed = 1;
};

// Confidence interval of sum(amount) / sum(time): a rate over time intervals of unequal length.
//
// Estimator:   ratio of sums; moving-block bootstrap (Kuensch 1989), percentile method.
// Assumes:     a stationary series, in which no value depends on values more than `block` away.
// Few samples: below eight the confidence interval is the estimate -/+ 50 %, because a resampled
//              one would be far too narrow. Without samples everything is 0.
// Shapes:      amount, time: [n] of the same length, >= 0. If all times are 0, everything is 0.
// Cost:        O(n + resamples * n / block).
[[nodiscard]] Interval BootstrapRate(std::span<const double> amount, std::span<const double> time,
                                     const BootstrapOptions& options);

// The resampled rates that BootstrapRate uses, in the order in which they were drawn. They serve
// statistics of two series, such as a ratio. Few samples: empty below eight.
[[nodiscard]] std::vector<double> ResampleRate(std::span<const double> amount,
                                               std::span<const double> time,
                                               const BootstrapOptions& options);

// Confidence interval of the mean: BootstrapRate with a time of 1 each. Shapes: values: [n], >= 0.
[[nodiscard]] Interval BootstrapMean(std::span<const double> values,
                                     const BootstrapOptions& options);

}  // namespace penstock::analyzer
