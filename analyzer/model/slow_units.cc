// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/slow_units.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace penstock::analyzer {

SlowUnits SlowAgainstOthers(const FunctionProfile& slow, const FunctionProfile& others) {
  constexpr double kLeastOfGap = 0.02;
  SlowUnits result;
  result.units = slow.units;
  result.others = others.units;
  result.slow_time = slow.unit_time;
  result.other_time = others.unit_time;
  std::map<std::tuple<std::string, std::uint32_t, std::string>, MoreTime> rows;
  const auto row = [&rows](const FunctionTime& function) -> MoreTime& {
    MoreTime& found = rows[{function.file, function.line, function.name}];
    found.name = function.name;
    found.file = function.file;
    found.line = function.line;
    return found;
  };
  for (const FunctionTime& function : slow.functions) {
    row(function).slow = function.share * slow.unit_time;
  }
  for (const FunctionTime& function : others.functions) {
    row(function).others = function.share * others.unit_time;
  }
  const double least = kLeastOfGap * (slow.unit_time - others.unit_time);
  for (auto& [key, more] : rows) {
    if (more.slow - more.others > std::max(least, 0.0)) result.functions.push_back(more);
  }
  std::stable_sort(
      result.functions.begin(), result.functions.end(),
      [](const MoreTime& a, const MoreTime& b) { return a.slow - a.others > b.slow - b.others; });
  return result;
}

}  // namespace penstock::analyzer
