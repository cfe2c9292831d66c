// SPDX-License-Identifier: Apache-2.0
#include "analyzer/stats/quantile.h"

#include <algorithm>
#include <cmath>

namespace penstock::analyzer {

double Quantile(std::span<const double> sorted, double p) {
  if (sorted.empty()) return 0;
  const double position = std::clamp(p, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double fraction = position - static_cast<double>(below);
  return sorted[below] + (sorted[above] - sorted[below]) * fraction;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return Quantile(values, 0.5);
}

Summary Summarize(std::span<const double> values) {
  std::vector<double> sorted;
  sorted.reserve(values.size());
  for (const double value : values) {
    if (std::isfinite(value)) sorted.push_back(value);
  }
  Summary summary;
  summary.count = sorted.size();
  if (sorted.empty()) return summary;
  std::sort(sorted.begin(), sorted.end());
  for (const double value : sorted) summary.sum += value;
  const auto n = static_cast<double>(sorted.size());
  summary.mean = summary.sum / n;
  if (sorted.size() > 1) {
    double squares = 0;
    for (const double value : sorted) squares += (value - summary.mean) * (value - summary.mean);
    summary.sd = std::sqrt(squares / (n - 1));
  }
  summary.median = Quantile(sorted, 0.5);
  summary.p10 = Quantile(sorted, 0.1);
  summary.p90 = Quantile(sorted, 0.9);
  summary.p99 = Quantile(sorted, 0.99);
  summary.min = sorted.front();
  summary.max = sorted.back();
  for (double& value : sorted) value = std::abs(value - summary.median);
  std::sort(sorted.begin(), sorted.end());
  summary.mad = 1.4826 * Quantile(sorted, 0.5);
  return summary;
}

}  // namespace penstock::analyzer
