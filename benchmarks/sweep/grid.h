// SPDX-License-Identifier: Apache-2.0
//
// What a sweep varies: axes with values, and the cells of their grid. Values, pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "traces/base/result.h"

namespace penstock::sweep {

struct Axis {
  std::string name;                 // as an option: "workers", "prefetch", "batch", "io", "ops"
  std::vector<std::string> values;  // at least one, no two alike
};

// One configuration to measure.
struct Cell {
  std::string name;                  // "workers:2/prefetch:4/batch:64", for --benchmark_filter
  std::vector<std::string> values;   // one for each axis; kAny where it makes no difference
  std::vector<std::string> options;  // beside the axes: words for the program
};

inline constexpr std::string_view kAny = "-";

// Reads "0,1,2,4" or "1..4,8". Axes that count (workers, prefetch, batch) take numbers and ranges
// with both ends; the others take any text between commas.
//
// Errors: kUsage, naming the axis and the value.
Result<Axis> ParseAxis(const std::string& name, const std::string& text);

// All combinations, the last axis fastest. Without workers nothing is fetched ahead: of the cells
// with workers 0 that differ in prefetch only, one is left.
//
// Errors: kUsage for more than 10,000 cells.
Result<std::vector<Cell>> MakeGrid(const std::vector<Axis>& axes);

// "workers 2, prefetch 4, batch 64": for people.
[[nodiscard]] std::string Describe(const std::vector<Axis>& axes, const Cell& cell);

}  // namespace penstock::sweep
