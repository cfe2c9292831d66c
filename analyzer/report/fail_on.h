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
  kLosses,        // events dropped and records damaged: fails above the limit
  kCoverage,      // share of the bytes read: fails below the limit, or if not known
};

struct Threshold {
  Metric metric = Metric::kWaitFraction;
  double limit = 0;
};

// Errors: kUsage if the metric is unknown or the limit is not a number in its range.
[[nodiscard]] Result<Threshold> ParseThreshold(std::string_view text);

// Whether the trace has what the metric needs. If not, the limit is neither kept nor exceeded.
[[nodiscard]] bool Known(const Threshold& threshold, const Report& report);
[[nodiscard]] bool Exceeded(const Threshold& threshold, const Report& report);
[[nodiscard]] std::string ExceededText(const Threshold& threshold, const Report& report);

}  // namespace penstock::analyzer
