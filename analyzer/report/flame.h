// SPDX-License-Identifier: Apache-2.0
//
// Where a profile's call paths are drawn in a flame graph with callers at the top. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/model/functions.h"

namespace penstock::analyzer {

// The box of a path. It lies below the box of its caller, to the right of the boxes of the caller's
// paths that come before it. Its width is CallPath::total.
// Units: fractions of the time of all followed samples, collations or steps.
struct FlameBox {
  std::size_t depth = 0;
  double left = 0;
  double own = 0;  // the part of its width that no called function takes
};

// Returns one box for each path. Requires: parents come before their children.
[[nodiscard]] std::vector<FlameBox> FlameBoxes(const std::vector<CallPath>& paths);

}  // namespace penstock::analyzer
