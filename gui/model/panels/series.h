// SPDX-License-Identifier: Apache-2.0
//
// Values over time in bins of equal width, made from spans and counters. Values; pure.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/model/run_model.h"

namespace penstock::gui {

// Units: seconds since the trace began.
struct Series {
  double from = 0;
  double width = 0;  // of a bin
  std::vector<double> value;

  Series() = default;
  // Makes bins of zero. Requires: bins >= 1.
  Series(double begin, double end, std::size_t bins);

  // Spreads `amount` evenly over [begin, end). The part outside the series is dropped. If the
  // interval has no length, one bin gets all.
  void Spread(double begin, double end, double amount);
  // Joins each `bins` neighbours into one bin. Requires: `bins` divides the number of bins.
  void Join(std::size_t bins);
  // Divides every bin by `by`; with the width of a bin, amounts become rates.
  void Divide(double by);

  [[nodiscard]] bool empty() const { return value.empty(); }
  [[nodiscard]] double to() const { return from + width * static_cast<double>(value.size()); }
  [[nodiscard]] double most() const;
  [[nodiscard]] double sum() const;
  // The value of the bin that holds `at`; 0 outside.
  [[nodiscard]] double At(double at) const;
};

// Adds the growth of a cumulative counter between each two of its samples.
void SpreadGrowth(const analyzer::CounterSeries& counter, Series& into);

// A counter over time. The figures `low` to `last` come from all samples, the points may be fewer.
struct Curve {
  std::vector<double> at;  // seconds since the trace began
  std::vector<double> value;
  double low = 0;
  double mean = 0;  // weighted by time
  double high = 0;
  double last = 0;
  [[nodiscard]] bool empty() const { return at.empty(); }
  // The value at `when`; 0 before the first point.
  [[nodiscard]] double At(double when) const;
};
// Multiplies the values by `scale`, and leaves out points evenly until at most 2 * `most` are left.
// A short peak may be left out too.
[[nodiscard]] Curve CurveOf(const analyzer::CounterSeries& counter, double scale,
                            std::size_t most = 2000);

}  // namespace penstock::gui
