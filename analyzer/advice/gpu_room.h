// SPDX-License-Identifier: Apache-2.0
//
// The gain of moving a stage to the GPU, for the rules that suggest it. Pure.
#pragma once

#include <optional>

#include "analyzer/advice/rules.h"

namespace penstock::analyzer {

struct GpuMove {
  Prediction predicted;         // with the device's time in the step, where it is known
  double break_even = 0;        // the most GPU seconds per sample with which the gain is 10 %
  double device = -1;           // GPU seconds per sample in `predicted`; -1: not known
  Statement source;             // where the figure in `device` comes from
  double share = 0;             // the stage's share of the workers' time
  double cpu = 0;               // used share of the usable cores
  double seconds_per_core = 0;  // CPU time of the stage for one sample; 0: not known
  double kernel_share = -1;     // share of the steady part with kernels; -1: none recorded
  double batch_bytes = 0;       // device memory for the decoded pictures of a batch
};

// Moves `stage`, and all that must move with it, to the device. nullopt if one of these holds: the
// trace shows no GPU; the cores are not full; other programs fill the cores; the loop waits less
// than 5 % of its time; kernels run 90 % of the time; the gain is below 10 % or not sure
// (docs/diagnosis.md R33, 3.6).
[[nodiscard]] std::optional<GpuMove> MoveToGpu(const RuleInput& input, traces::StageId stage,
                                               Factor factor);

// Fills in the parts that the findings of both rules have in common.
void Describe(const RuleInput& input, const GpuMove& move, Finding& finding);
// Says up to what time on the device the move pays.
[[nodiscard]] Statement PaysWhile(const RuleInput& input, const GpuMove& move);

// Whether the run uses 80 % of its cores (the limit for free cores in docs/diagnosis.md R4), or
// other programs use them.
[[nodiscard]] bool CoresAreFull(const RuleInput& input);

}  // namespace penstock::analyzer
