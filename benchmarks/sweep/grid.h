// SPDX-License-Identifier: Apache-2.0
//
// The axes that a sweep varies, and the cells of their grid. Plain data and pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "traces/base/result.h"

namespace penstock::sweep {

struct Axis {
  std::string name;                 // as an option, such as "workers", "batch" or "ops"
  std::vector<std::string> values;  // at least one, all different
};

// One configuration to measure.
struct Cell {
  std::string name;                  // "workers:2/prefetch:4/batch:64", for --benchmark_filter
  std::vector<std::string> values;   // one for each axis; kAny where no value makes a difference
  std::vector<std::string> options;  // further options of penstock-load, for AblationCells()
};

inline constexpr std::string_view kAny = "-";

// Reads "0,1,2,4" or "1..4,8". Axes with a number as value (workers, prefetch, batch) take numbers
// and inclusive ranges; the others take any text between commas.
//
// Errors: kUsage, with the axis and the value.
Result<Axis> ParseAxis(const std::string& name, const std::string& text);

// All combinations, with the last axis changing fastest. Without workers nothing is fetched ahead,
// so cells with workers 0 that differ only in prefetch become one cell, with kAny for prefetch.
//
// Errors: kUsage for more than 10,000 combinations.
Result<std::vector<Cell>> MakeGrid(const std::vector<Axis>& axes);

// A text for people: "workers 2, prefetch 4, batch 64".
[[nodiscard]] std::string Describe(const std::vector<Axis>& axes, const Cell& cell);

}  // namespace penstock::sweep
