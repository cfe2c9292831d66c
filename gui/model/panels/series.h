// SPDX-License-Identifier: Apache-2.0
//
// Values over time in bins of equal width, from spans and from counters. Values; pure.
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
  // Bins of zero. Requires: bins >= 1.
  Series(double begin, double end, std::size_t bins);

  // Spreads `amount` evenly over [begin, end); outside of the series it is lost. A stretch without
  // length goes to one bin.
  void Spread(double begin, double end, double amount);
  // Every bin divided by `by`, such as its width: amounts become rates.
  void Divide(double by);

  [[nodiscard]] bool empty() const { return value.empty(); }
  [[nodiscard]] double to() const { return from + width * static_cast<double>(value.size()); }
  [[nodiscard]] double most() const;
  [[nodiscard]] double sum() const;
  // Of the bin that holds `at`; 0 outside.
  [[nodiscard]] double At(double at) const;
};

// Adds what a cumulative counter grew by, between each two of its samples. `begins_at_zero`: what
// it had at its first sample was used in this run, and is counted there.
void SpreadGrowth(const analyzer::CounterSeries& counter, bool begins_at_zero, Series& into);

// Points of a counter, thinned evenly to at most `most`. The figures are of all of them.
struct Curve {
  std::vector<double> at;  // seconds since the trace began
  std::vector<double> value;
  double low = 0;
  double mean = 0;  // weighted by time
  double high = 0;
  double last = 0;
  [[nodiscard]] bool empty() const { return at.empty(); }
  // The value that holds at `when`; 0 before the first point.
  [[nodiscard]] double At(double when) const;
};
[[nodiscard]] Curve CurveOf(const analyzer::CounterSeries& counter, double scale,
                            std::size_t most = 2000);

}  // namespace penstock::gui
