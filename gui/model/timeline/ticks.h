// SPDX-License-Identifier: Apache-2.0
//
// The places and texts of ticks on axes. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penstock::gui {

struct AxisTick {
  double at = 0;  // in the units of the axis
  std::string text;
};

// Round values in [low, high] at equal distances. The distance is at least 1 / `most` of the range,
// so there are at most `most` + 1 values; there may be only one or none.
[[nodiscard]] std::vector<double> RoundValues(double low, double high, int most);

// Round values in [low, high] for an axis on a log scale: powers of ten. If the axis has at most
// one decade, also 2, 3 and 5 times these; if it is still shorter,
// RoundValues(). Requires: 0 < low <= high.
[[nodiscard]] std::vector<double> LogValues(double low, double high);

// Ticks of a time axis between two times in ns, all in seconds ("1.25 s", "1.26 s"), with as many
// decimals as are needed to tell them apart.
[[nodiscard]] std::vector<AxisTick> TimeTicks(std::int64_t from, std::int64_t to, int most);

// A time since the trace began in seconds ("1.234 s"), with as many decimals as `resolution` (ns)
// needs.
[[nodiscard]] std::string TimeText(std::int64_t at, std::int64_t resolution);

// "12.3k", "4.5M": at most four characters and a suffix.
[[nodiscard]] std::string CountText(double value);

}  // namespace penstock::gui
