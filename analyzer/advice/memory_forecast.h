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

// What is lacking to judge how the workers' memory grows; empty: nothing. Requires:
// input.diagnosis.loader.
[[nodiscard]] Statement NeedsOfGrowth(const RuleInput& input);

// Whether one worker has grown by that much within the recording, or will surely have at the
// horizon. Requires: input.diagnosis.loader.
[[nodiscard]] bool WorthTelling(const RuleInput& input, const Growth& growth);

// Evidence of `growth`, the processes, the forecast, and the severity that follows from it.
// Requires: input.diagnosis.loader.
void DescribeGrowth(const RuleInput& input, const Growth& growth, Finding& finding);

// When the forecast of a worker's memory is for, and when memory runs out.
[[nodiscard]] Statement HorizonOf(const WorkerGrowth& growth);
[[nodiscard]] Statement RunsOut(const Interval& out);
// What each worker comes to, and when the memory runs out; nullopt: neither is known.
[[nodiscard]] std::optional<Statement> Forecast(const RuleInput& input);

}  // namespace penstock::analyzer
