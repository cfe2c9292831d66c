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
  kCoverage,      // of the bytes read: fails below the limit, or if it is not known
};

struct Threshold {
  Metric metric = Metric::kWaitFraction;
  double limit = 0;
};

// Errors: kUsage if the metric is unknown or the limit is not a number in its range.
[[nodiscard]] Result<Threshold> ParseThreshold(std::string_view text);

// False: the trace has nothing to measure it by, so that it is neither kept nor exceeded.
[[nodiscard]] bool Known(const Threshold& threshold, const Report& report);
[[nodiscard]] bool Exceeded(const Threshold& threshold, const Report& report);
[[nodiscard]] std::string ExceededText(const Threshold& threshold, const Report& report);

}  // namespace penstock::analyzer
