// SPDX-License-Identifier: Apache-2.0
//
// What the rules about growing workers say in common: whether it is worth telling, what it comes
// to at the end of the epoch, and when memory runs out. Pure.
#pragma once

#include <string>

#include "analyzer/advice/rules.h"

namespace penstock::analyzer {

// Growth of one worker worth a finding (ours): 64 MB and a fifth of its private memory.
inline constexpr double kGrowthBytes = 64e6;
inline constexpr double kGrowthShare = 0.2;

// Whether one worker has grown by that much within the recording, or will surely have at the end
// of the epoch. Requires: input.diagnosis.loader.
[[nodiscard]] bool WorthTelling(const RuleInput& input, const Growth& growth);

// Evidence of `growth`, the processes, the forecast, and the severity that follows from it.
// Requires: input.diagnosis.loader.
void DescribeGrowth(const RuleInput& input, const Growth& growth, Finding& finding);

// " At the end of the epoch each has 812 MB (700 MB to 900 MB). Memory of the machine, 8.1 GB of
// which are left, runs out in 42 min (31 to 65 min)."; "" where neither is known.
[[nodiscard]] std::string ForecastText(const RuleInput& input);

}  // namespace penstock::analyzer
