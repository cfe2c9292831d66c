// SPDX-License-Identifier: Apache-2.0
//
// A grid of predictions as a table and as JSON (docs/design.md 2). Pure.
#pragma once

#include <string>

#include "analyzer/report/report.h"
#include "analyzer/whatif/grid.h"

namespace penstock::analyzer {

[[nodiscard]] std::string GridText(const Grid& grid, Colour colour);
// {"configurations": [...], "left_out": [...], ...}: each combination is an element of one of the
// two (docs/design.md, "whatif --json").
[[nodiscard]] std::string GridJson(const Grid& grid);

}  // namespace penstock::analyzer
