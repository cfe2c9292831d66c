// SPDX-License-Identifier: Apache-2.0
//
// How much of the decoding Pillow does. Pure.
#pragma once

#include "analyzer/advice/rules.h"

namespace penstock::analyzer {

// Pillow's share of the wall time of the stage decode: 0 to 1.
[[nodiscard]] double PillowShareOfDecode(const RuleInput& input);

}  // namespace penstock::analyzer
