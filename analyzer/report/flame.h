// SPDX-License-Identifier: Apache-2.0
//
// Where the call paths of a profile lie in a flame graph that hangs down. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/model/functions.h"

namespace penstock::analyzer {

// Below its caller, beside what the caller called before. Units: fractions of a unit's time.
struct FlameBox {
  std::size_t depth = 0;
  double left = 0;
  double own = 0;  // of its width, what it did not call
};

// One for each path.
[[nodiscard]] std::vector<FlameBox> FlameBoxes(const std::vector<CallPath>& paths);

}  // namespace penstock::analyzer
