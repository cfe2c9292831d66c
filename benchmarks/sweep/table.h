// SPDX-License-Identifier: Apache-2.0
//
// A sweep as text for a terminal. Pure functions.
#pragma once

#include <string>

#include "benchmarks/sweep/result.h"

namespace penstock::sweep {

struct TableStyle {
  bool colour = false;
};

// One line for each cell, in the order of the grid, with the measurements so far.
[[nodiscard]] std::string RenderTable(const SweepResult& result, const TableStyle& style);

// A table of medians over the first two axes with more than one value, with one block for each
// combination of the others. Empty if there are no two such axes.
[[nodiscard]] std::string RenderMatrix(const SweepResult& result, const TableStyle& style);

// The lines below the table: the best and the suggested setting, ties, failures, notes.
[[nodiscard]] std::string RenderVerdict(const SweepResult& result, const TableStyle& style);

}  // namespace penstock::sweep
