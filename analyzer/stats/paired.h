// SPDX-License-Identifier: Apache-2.0
//
// Paired trials of two ways to run a program, looked at after each pair. Values; pure.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "analyzer/stats/bootstrap.h"

namespace penstock::analyzer {

// t such that Student's distribution with `degrees` of freedom lies within -t..t with probability
// 1 - `outside`.
//
// Requires: 0 < outside < 1; degrees >= 1.
// Source:   M. Abramowitz, I. Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
[[nodiscard]] double StudentBound(double outside, std::size_t degrees);

struct PairedOptions {
  double error = 0.1;     // that the interval misses the ratio at any of its looks, two-sided
  std::size_t least = 3;  // pairs; at least 2
};

// The ratio of two rates from pairs that ran side by side, with an interval that may be looked at
// after every pair, so that trials can stop when it decides.
//
// Estimator:   exp of the mean of the log ratios, t interval. The look after pair least + k spends
//              error / 2^(k+1), so that all looks together miss with probability `error` at most,
//              however they depend on each other (Bonferroni); the interval is what all looks so
//              far agree on.
// Assumes:     log ratios that are independent, of one normal distribution. Runs of a pair follow
//              each other and change places from pair to pair, so that a drift of the machine
//              shifts neighbouring pairs to opposite sides; it widens the interval, and leaves a
//              bias of one step of it over the pairs where their number is odd.
// Few samples: below `least` nothing is known: the interval is 0 to infinity.
// Where looks contradict each other (which has probability `error` at most) the last one stands.
class PairedRatio {
 public:
  explicit PairedRatio(PairedOptions options = {}) : options_(options) {}

  // Requires: both > 0 and finite.
  void Add(double rate, double base);
  [[nodiscard]] std::size_t pairs() const { return logs_.size(); }
  [[nodiscard]] bool known() const { return logs_.size() >= options_.least; }
  [[nodiscard]] Interval ratio() const;
  [[nodiscard]] std::span<const double> logs() const { return logs_; }

 private:
  PairedOptions options_;
  std::vector<double> logs_;
  double low_ = -std::numeric_limits<double>::infinity();  // of the log ratio, by all looks
  double high_ = std::numeric_limits<double>::infinity();
};

}  // namespace penstock::analyzer
