// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/ticks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/core.h>

namespace penstock::gui {
namespace {

double RoundStep(double length, int most) {
  const double raw = length / std::max(1, most);
  const double decade = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (decade * factor >= raw * 0.999999) return decade * factor;
  }
  return decade * 10;
}

}  // namespace

std::vector<double> RoundValues(double low, double high, int most) {
  std::vector<double> values;
  if (!(high > low) || !std::isfinite(high - low)) return {low};
  const double step = RoundStep(high - low, most);
  const double first = std::ceil(low / step - 1e-9);
  const double last = std::floor(high / step + 1e-9);
  // From 2^53 on, adding 1 to a double may not change it, and the loop would never end.
  constexpr double kCountable = 9007199254740992.0;
  if (!(std::abs(first) < kCountable && std::abs(last) < kCountable)) return {low};
  for (double i = first; i <= last; i += 1) values.push_back(i * step + 0.0);  // never -0
  return values;
}

std::vector<double> LogValues(double low, double high) {
  constexpr double kNear = 1e-6;
  const bool fine = high < 10 * low * (1 + kNear);
  std::vector<double> values;
  for (int decade = static_cast<int>(std::floor(std::log10(low) + kNear));; ++decade) {
    const double power = std::pow(10.0, decade);
    if (power > high * (1 + kNear)) break;
    for (const double factor : {1.0, 2.0, 3.0, 5.0}) {
      const double value = power * factor;
      if (factor > 1 && !fine) continue;
      if (value >= low * (1 - kNear) && value <= high * (1 + kNear)) values.push_back(value);
    }
  }
  constexpr int kMost = 4;
  return values.size() < 2 ? RoundValues(low, high, kMost) : values;
}

std::string TimeText(std::int64_t at, std::int64_t resolution) {
  const int digits =
      resolution >= 1'000'000'000
          ? 0
          : std::clamp(
                static_cast<int>(std::ceil(
                    9 - std::log10(static_cast<double>(std::max<std::int64_t>(resolution, 1))) -
                    1e-9)),
                0, 9);
  return fmt::format("{:.{}f} s", static_cast<double>(at) * 1e-9, digits);
}

std::vector<AxisTick> TimeTicks(std::int64_t from, std::int64_t to, int most) {
  std::vector<AxisTick> ticks;
  if (to <= from) return ticks;
  const auto length = static_cast<double>(to - from);
  const double step = std::max(1.0, RoundStep(length, most));
  const double first = std::ceil(static_cast<double>(from) / step - 1e-9);
  const double last = std::floor(static_cast<double>(to) / step + 1e-9);
  for (double i = first; i <= last; i += 1) {
    const double at = i * step;
    ticks.push_back({at, TimeText(std::llround(at), std::llround(step))});
  }
  return ticks;
}

std::string CountText(double value) {
  constexpr std::array<std::string_view, 5> kUnits = {"", "k", "M", "G", "T"};
  std::size_t unit = 0;
  double size = std::abs(value);
  while (size >= 999.5 && unit + 1 < kUnits.size()) {
    size /= 1000;
    ++unit;
  }
  const bool whole = unit == 0 && std::abs(size - std::round(size)) < 1e-9;
  const int digits = whole || size >= 99.95 ? 0 : (size >= 9.995 ? 1 : 2);
  return fmt::format("{}{:.{}f}{}", value < 0 ? "-" : "", size, digits, kUnits[unit]);
}

}  // namespace penstock::gui
