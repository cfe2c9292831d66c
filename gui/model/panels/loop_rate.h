// SPDX-License-Identifier: Apache-2.0
//
// How fast the training loop ran over time, and how much of its time it waited for data. Values;
// pure.
#pragma once

#include <optional>

#include "analyzer/report/report.h"
#include "gui/model/panels/series.h"

namespace penstock::gui {

// For the loader that the verdict is about. Units: seconds since the trace began.
struct LoopRate {
  // A change of the rate that lasted.
  struct Change {
    double at = 0;
    double before = 0;
    double after = 0;
  };

  Series rate;  // samples per second, or batches where samples are not known
  Series wait;  // fraction of the time in next(), of this loader or of those used together with it
  std::optional<Change> change;
  [[nodiscard]] bool empty() const { return rate.empty(); }
  void Shift(double seconds);
};

// Empty if fewer than eight batches were delivered. A batch is spread evenly over the time from the
// call of next() that delivered it to the next call.
[[nodiscard]] LoopRate BuildLoopRate(const analyzer::Report& report);

}  // namespace penstock::gui
