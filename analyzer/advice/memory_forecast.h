// SPDX-License-Identifier: Apache-2.0
//
// Common parts of the rules about growing workers: whether growth is worth a finding, how much
// memory it takes at the horizon (WorkerGrowth::horizon), and when memory runs out. Pure.
#pragma once

#include <string>

#include "analyzer/advice/rules.h"

namespace penstock::analyzer {

// A finding needs one worker to grow by 64 MB and by a fifth of the private memory that it had
// before (ours).
inline constexpr double kGrowthBytes = 64e6;
inline constexpr double kGrowthShare = 0.2;

// What the recording lacks to judge how the workers' memory grows; empty: it lacks nothing.
// Requires: input.diagnosis.loader.
[[nodiscard]] Statement NeedsOfGrowth(const RuleInput& input);

// Whether one worker grew enough for a finding within the recording, or surely will have grown
// enough at the horizon.
// Requires: input.diagnosis.loader.
[[nodiscard]] bool WorthTelling(const RuleInput& input, const Growth& growth);

// Adds to `finding` the evidence of `growth`, the processes, the forecast, and the severity that
// follows from it. Requires: input.diagnosis.loader.
void DescribeGrowth(const RuleInput& input, const Growth& growth, Finding& finding);

// After which batch the forecast of a worker's memory applies.
[[nodiscard]] Statement HorizonOf(const WorkerGrowth& growth);
// When memory runs out: `out` is MemoryModel::OutOfMemory().
[[nodiscard]] Statement RunsOut(const Interval& out);
// Whose memory MemoryModel::limit is: that of the machine or of the control group.
[[nodiscard]] Statement LimitOf(const MemoryModel& memory);
// How much memory each worker will have, if that is over 2 % more than now, and when memory runs
// out, if it does. nullopt: neither.
[[nodiscard]] std::optional<Statement> Forecast(const RuleInput& input);

}  // namespace penstock::analyzer
