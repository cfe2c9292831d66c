// SPDX-License-Identifier: Apache-2.0
#include "analyzer/stats/shift.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "analyzer/stats/quantile.h"

namespace penstock::analyzer {
namespace {

// The distance at a place is that between the median of the values just before the place and the
// median of the values just after it. There are `least` values on each side, but at most a sixth of
// the series. At a shift, this distance must be at least this part of the distance between the
// levels. If a series drifts evenly, it is at most a third of the distance between the levels.
constexpr double kShareAtPlace = 0.5;
constexpr std::size_t kSeriesPerNear = 6;

// Ranks from 1; equal values get the mean of their ranks.
std::vector<double> RanksOf(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i + 1;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (std::size_t k = i; k < end; ++k) ranks[order[k]] = 0.5 * static_cast<double>(i + 1 + end);
    i = end;
  }
  return ranks;
}

// The distance from `a` to `b`, as the logarithm of their ratio; 0 if one of them is not positive.
double Distance(double a, double b) {
  return a > 0 && b > 0 ? std::log(b / a) : 0;
}

// The clearest shift of `values`; nullopt if there is none.
std::optional<std::size_t> OneShift(std::span<const double> values, const ShiftOptions& options) {
  if (values.size() < 2 * options.least || options.least == 0) return std::nullopt;
  const std::vector<double> ranks = RanksOf(values);
  const auto n = static_cast<double>(ranks.size());
  std::size_t place = 0;
  double most = 0;    // the deviation of the ranks at `place`, see `beyond`
  double sum = 0;     // sum of the ranks before i
  double before = 0;  // sum of the ranks before `place`
  for (std::size_t i = 1; i + options.least <= ranks.size(); ++i) {
    sum += ranks[i - 1];
    const auto count = static_cast<double>(i);
    // How far `sum` is from its mean if there is only one level, in standard deviations times a
    // constant factor.
    const double deviation = std::sqrt(count * (n - count));
    const double beyond = std::abs(sum - 0.5 * count * (n + 1)) / deviation;
    if (i < options.least || beyond <= most) continue;
    most = beyond;
    place = i;
    before = sum;
  }
  if (place == 0) return std::nullopt;
  const auto left = static_cast<double>(place);
  const double right = n - left;
  // The probability that a value on the left exceeds one on the right.
  const double above = (before - 0.5 * left * (left + 1)) / (left * right);
  if (std::max(above, 1 - above) < options.apart) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(place);
  const auto near = static_cast<std::ptrdiff_t>(
      std::clamp<std::size_t>(values.size() / kSeriesPerNear, 1, options.least));
  const double levels = Distance(Median({values.begin(), middle}), Median({middle, values.end()}));
  const double at_place =
      Distance(Median({middle - near, middle}), Median({middle, middle + near}));
  const bool far = std::abs(levels) >= std::log(options.ratio);
  return far && at_place / levels >= kShareAtPlace ? std::optional(place) : std::nullopt;
}

// Adds the shifts of `values`, a part of a series that begins at index `begin`.
void AddShifts(std::span<const double> values, std::size_t begin, const ShiftOptions& options,
               std::vector<std::size_t>& shifts) {
  const auto shift = OneShift(values, options);
  if (!shift) return;
  AddShifts(values.first(*shift), begin, options, shifts);
  shifts.push_back(begin + *shift);
  AddShifts(values.subspan(*shift), begin + *shift, options, shifts);
}

}  // namespace

std::vector<std::size_t> FindShifts(std::span<const double> values, const ShiftOptions& options) {
  std::vector<std::size_t> shifts;
  AddShifts(values, 0, options, shifts);
  return shifts;
}

}  // namespace penstock::analyzer
