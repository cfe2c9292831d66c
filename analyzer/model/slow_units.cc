// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/slow_units.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace penstock::analyzer {

namespace {

using FunctionId = std::tuple<std::string, std::uint32_t, std::string>;

FunctionId IdOf(const FunctionTime& function) {
  return {function.file, function.line, function.name};
}

template <class Row>
void LargestGapFirst(std::vector<Row>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.slow - a.others > b.slow - b.others;
  });
}

// `other`: the same function in the other units; nullptr if these units do not call it.
std::vector<MoreLine> LinesOf(const FunctionTime& function, double slow_time,
                              const FunctionTime* other, double other_time, double least) {
  std::map<std::uint32_t, MoreLine> rows;
  for (const LineTime& line : function.lines) {
    rows[line.line] = {line.line, line.share * slow_time, 0};
  }
  if (other != nullptr) {
    if (other->lines.empty()) return {};  // lines were not followed in the other units
    for (const LineTime& line : other->lines) {
      const auto found = rows.find(line.line);
      if (found != rows.end()) found->second.others = line.share * other_time;
    }
  }
  std::vector<MoreLine> lines;
  for (const auto& [number, line] : rows) {
    if (line.slow - line.others > least) lines.push_back(line);
  }
  LargestGapFirst(lines);
  return lines;
}

}  // namespace

SlowUnits SlowAgainstOthers(const FunctionProfile& slow, const FunctionProfile& others) {
  constexpr double kLeastOfGap = 0.02;
  SlowUnits result;
  result.units = slow.units;
  result.others = others.units;
  result.slow_time = slow.unit_time;
  result.other_time = others.unit_time;
  result.paths = slow.paths;
  const double least = std::max(0.0, kLeastOfGap * (slow.unit_time - others.unit_time));
  std::map<FunctionId, const FunctionTime*> known;
  for (const FunctionTime& function : others.functions) known[IdOf(function)] = &function;
  for (const FunctionTime& function : slow.functions) {
    const auto found = known.find(IdOf(function));
    const FunctionTime* other = found != known.end() ? found->second : nullptr;
    MoreTime more;
    more.name = function.name;
    more.file = function.file;
    more.line = function.line;
    more.slow = function.share * slow.unit_time;
    more.others = other != nullptr ? other->share * others.unit_time : 0;
    if (more.slow - more.others <= least) continue;
    more.lines = LinesOf(function, slow.unit_time, other, others.unit_time, least);
    result.functions.push_back(std::move(more));
  }
  LargestGapFirst(result.functions);
  return result;
}

}  // namespace penstock::analyzer
