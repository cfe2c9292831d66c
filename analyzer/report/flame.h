// SPDX-License-Identifier: Apache-2.0
//
// The places of a profile's call paths in a flame graph whose callers are at the top. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/model/functions.h"

namespace penstock::analyzer {

// The box of a path: below its caller, to the right of the calls that the caller made before. Its
// width is CallPath::total.
// Units: fractions of the time of all followed units.
struct FlameBox {
  std::size_t depth = 0;
  double left = 0;
  double own = 0;  // the part of its width that no called function takes
};

// One for each path. Requires: parents come before their children.
[[nodiscard]] std::vector<FlameBox> FlameBoxes(const std::vector<CallPath>& paths);

}  // namespace penstock::analyzer
