// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/fail_on.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include <fmt/core.h>

namespace penstock::analyzer {
namespace {

constexpr std::array<std::pair<std::string_view, Metric>, 3> kMetrics = {
    {{"wait_fraction", Metric::kWaitFraction},
     {"losses", Metric::kLosses},
     {"coverage", Metric::kCoverage}}};

double ValueOf(Metric metric, const Report& report) {
  switch (metric) {
    case Metric::kWaitFraction:
      return report.diagnosis.wait_fraction;
    case Metric::kLosses:
      return static_cast<double>(report.losses.dropped_events + report.losses.damaged_records +
                                 report.losses.damaged_chunks + report.losses.damaged_bytes +
                                 report.losses.lost_threads) +
             (report.losses.truncated ? 1 : 0);
    case Metric::kCoverage:
      return report.coverage.fraction();
  }
  return 0;
}

}  // namespace

Result<Threshold> ParseThreshold(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  Threshold threshold;
  // "wait" is a short name of the wait fraction.
  bool known = name == "wait";
  for (const auto& [known_name, metric] : kMetrics) {
    if (name != known_name) continue;
    threshold.metric = metric;
    known = true;
  }
  if (!known) {
    return Fail(
        ErrorKind::kUsage,
        fmt::format("--fail-on {}: '{}' is none of wait_fraction, losses, coverage", text, name));
  }
  const std::string number(equals == std::string_view::npos ? "" : text.substr(equals + 1));
  char* end = nullptr;
  threshold.limit = std::strtod(number.c_str(), &end);
  const bool fraction = threshold.metric != Metric::kLosses;
  if (number.empty() || *end != '\0' || !std::isfinite(threshold.limit) || threshold.limit < 0 ||
      (fraction && threshold.limit > 1)) {
    return Fail(ErrorKind::kUsage, fmt::format("--fail-on {}: the limit must be a number {}", text,
                                               fraction ? "between 0 and 1" : "of 0 or more"));
  }
  return threshold;
}

bool Known(const Threshold& threshold, const Report& report) {
  if (threshold.metric != Metric::kWaitFraction) return true;
  const Diagnosis& diagnosis = report.diagnosis;
  return diagnosis.loader ? diagnosis.loader->steady.time > 0
                          : diagnosis.run.stages[traces::StageId::kWait].count > 0;
}

bool Exceeded(const Threshold& threshold, const Report& report) {
  const double value = ValueOf(threshold.metric, report);
  return threshold.metric == Metric::kCoverage ? value < threshold.limit : value > threshold.limit;
}

std::string ExceededText(const Threshold& threshold, const Report& report) {
  std::string_view name;
  for (const auto& [known, metric] : kMetrics) {
    if (metric == threshold.metric) name = known;
  }
  return fmt::format("{} is {:.6g}, the limit is {:.6g}", name, ValueOf(threshold.metric, report),
                     threshold.limit);
}

}  // namespace penstock::analyzer
