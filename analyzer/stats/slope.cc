// SPDX-License-Identifier: Apache-2.0
#include "analyzer/stats/slope.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "analyzer/stats/quantile.h"

namespace penstock::analyzer {

namespace {

constexpr std::size_t kMost = 200;

std::size_t PointsUsed(std::span<const double> x, std::span<const double> y) {
  return std::min({x.size(), y.size(), kMost});
}

// The slopes of all pairs of points whose x differ. A long series is thinned evenly to PointsUsed()
// points.
std::vector<double> PairSlopes(std::span<const double> x, std::span<const double> y) {
  const std::size_t n = std::min(x.size(), y.size());
  const std::size_t points = PointsUsed(x, y);
  const auto pick = [&](std::size_t i) { return points == n ? i : i * (n - 1) / (points - 1); };
  std::vector<double> slopes;
  for (std::size_t i = 0; i < points; ++i) {
    for (std::size_t k = i + 1; k < points; ++k) {
      const double run = x[pick(k)] - x[pick(i)];
      if (run != 0) slopes.push_back((y[pick(k)] - y[pick(i)]) / run);
    }
  }
  return slopes;
}

}  // namespace

double TheilSenSlope(std::span<const double> x, std::span<const double> y) {
  return Median(PairSlopes(x, y));
}

Interval SlopeInterval(std::span<const double> x, std::span<const double> y) {
  constexpr double kNormalWithin90 = 1.6449;  // 90 % of a normal distribution lie within -/+ this
  std::vector<double> slopes = PairSlopes(x, y);
  if (slopes.empty()) return {};
  std::sort(slopes.begin(), slopes.end());
  const std::size_t points = PointsUsed(x, y);
  const auto count = static_cast<double>(points);
  const double spread = kNormalWithin90 * std::sqrt(count * (count - 1) * (2 * count + 5) / 18);
  const auto pairs = static_cast<double>(slopes.size());
  // Counted from 1, the ends are slope number `first` from below and from above. Counted from 0,
  // they are slopes first - 1 and size - first. If `first` is 0, the interval holds the slopes of
  // all pairs.
  const double first = points < 4 ? 0 : std::max(0.0, std::floor((pairs - spread) / 2));
  const auto rank = static_cast<std::size_t>(first);
  const auto at = std::min(rank > 0 ? rank - 1 : 0, slopes.size() - 1);
  return {Quantile(slopes, 0.5), slopes[std::min(at, slopes.size() - 1 - at)],
          slopes[std::max(at, slopes.size() - 1 - at)]};
}

}  // namespace penstock::analyzer
