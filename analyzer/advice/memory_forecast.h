// SPDX-License-Identifier: Apache-2.0
//
// What the rules about growing workers say in common: whether it is worth telling, what it comes
// to at the horizon, and when memory runs out. Pure.
#pragma once

#include <string>

#include "analyzer/advice/rules.h"

namespace penstock::analyzer {

// Growth of one worker worth a finding (ours): 64 MB and a fifth of its private memory.
inline constexpr double kGrowthBytes = 64e6;
inline constexpr double kGrowthShare = 0.2;

// Whether one worker has grown by that much within the recording, or will surely have at the
// horizon. Requires: input.diagnosis.loader.
[[nodiscard]] bool WorthTelling(const RuleInput& input, const Growth& growth);

// Evidence of `growth`, the processes, the forecast, and the severity that follows from it.
// Requires: input.diagnosis.loader.
void DescribeGrowth(const RuleInput& input, const Growth& growth, Finding& finding);

// " Each has 812 MB (700 MB to 900 MB) at the end of an epoch of 400 batches. The memory of the
// machine (8.10 GB left of 16.0 GB) runs out in 42 min (31 min to 65 min)."; "" where neither is
// known.
[[nodiscard]] std::string ForecastText(const RuleInput& input);

}  // namespace penstock::analyzer
