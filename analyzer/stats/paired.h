// SPDX-License-Identifier: Apache-2.0
//
// The ratio of the rates of two ways to run a program, estimated from paired runs after each pair.
// Values; pure.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "analyzer/stats/bootstrap.h"

namespace penstock::analyzer {

// The t for which Student's distribution with `degrees` of freedom lies within -t..t with
// probability 1 - `outside`.
//
// Requires: 0 < outside < 1; degrees >= 1.
// Source:   M. Abramowitz, I. Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
[[nodiscard]] double StudentBound(double outside, std::size_t degrees);

struct PairedOptions {
  // Probability that at least one of all looks has an interval without the true ratio, two-sided.
  double error = 0.1;
  std::size_t least = 3;  // pairs before the first look; at least 2
};

// The ratio of two rates from pairs of runs. Its confidence interval may be looked at after every
// pair, so trials can stop as soon as the interval allows a decision.
//
// Estimator:   exp of the mean of the log ratios, t interval. The look after pair least + k is
//              allowed an error probability of error / 2^(k+1), or 1e-9 if that is larger. No
//              matter how the looks depend on each other, the probability that any of them errs is
//              at most `error`, plus 1e-9 for each look after about 26 (Bonferroni). The interval
//              is the intersection of the intervals of the looks so far. An estimate outside of it
//              is moved to its nearer end.
// Assumes:     independent log ratios from one normal distribution. The two runs of a pair follow
//              each other, in an order that changes from pair to pair. So a drift of the machine
//              raises one pair's ratio and lowers the next one's, which widens the interval. With
//              an odd number n of pairs, a bias remains: 1/n of the drift from one run to the next.
// Few samples: below `least` pairs nothing is known, and the interval is 0 to infinity. If the
//              interval of a look does not meet the intersection so far (with probability `error`
//              at most), the intersection restarts from this last interval.
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
  // The interval of the log ratio after all looks so far.
  double low_ = -std::numeric_limits<double>::infinity();
  double high_ = std::numeric_limits<double>::infinity();
};

}  // namespace penstock::analyzer
