// SPDX-License-Identifier: Apache-2.0
//
// Thresholds for CI gates: --fail-on METRIC=LIMIT. Pure.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/report/report.h"
#include "traces/base/result.h"

namespace penstock::analyzer {

enum class Metric {
  kWaitFraction,  // fails above the limit
  // Dropped events, damaged records, damaged bytes and lost threads, plus 1 if the trace is
  // truncated: fails above the limit.
  kLosses,
  // The share of the bytes counted by the kernel that hooks saw too (Coverage::fraction()), 0 if
  // not known: fails below the limit.
  kCoverage,
};

struct Threshold {
  Metric metric = Metric::kWaitFraction;
  double limit = 0;
};

// Errors: kUsage if the metric is unknown or the limit is not a number in its range.
[[nodiscard]] Result<Threshold> ParseThreshold(std::string_view text);

// False only for the metric kWaitFraction if the report has no wait fraction. It is then not known
// whether the limit is exceeded. The other metrics are always known: see Metric.
[[nodiscard]] bool Known(const Threshold& threshold, const Report& report);
[[nodiscard]] bool Exceeded(const Threshold& threshold, const Report& report);
[[nodiscard]] std::string ExceededText(const Threshold& threshold, const Report& report);

}  // namespace penstock::analyzer
