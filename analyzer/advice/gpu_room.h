// SPDX-License-Identifier: Apache-2.0
//
// What moving a stage to the GPU would gain, for the rules that say so. Pure.
#pragma once

#include <optional>

#include "analyzer/advice/rules.h"

namespace penstock::analyzer {

struct GpuMove {
  Prediction predicted;         // with the device's time in the step, where `costs` tell it
  double break_even = 0;        // GPU seconds a sample may take before the gain falls below 10 %
  double device = -1;           // GPU seconds a sample that it was predicted with; -1: none
  Statement source;             // of that figure
  double share = 0;             // of the stage in the workers' time
  double cpu = 0;               // saturation of the usable cores
  double seconds_per_core = 0;  // CPU time of the stage for one sample, 0: not known
  double kernel_share = -1;     // of the steady part, -1: no kernels recorded
  double batch_bytes = 0;       // decoded pictures of a batch, in device memory
};

// Moving `stage` (and all that must move with it) to the device. nullopt where it is no use or not
// known: no GPU in the trace, cores not full, the loop does not wait, the device busy 90 % of the
// time, or less than 10 % to gain, or a gain that is not sure (docs/diagnosis.md R33, 3.6).
[[nodiscard]] std::optional<GpuMove> MoveToGpu(const RuleInput& input, traces::StageId stage,
                                               Factor factor);

// The part of both findings that is the same.
void Describe(const RuleInput& input, const GpuMove& move, Finding& finding);
// Below which time of the device it pays.
[[nodiscard]] Statement PaysWhile(const RuleInput& input, const GpuMove& move);

// 80 % of the usable cores (docs/diagnosis.md R4's limit for free cores), or other programs use
// them.
[[nodiscard]] bool CoresAreFull(const RuleInput& input);

}  // namespace penstock::analyzer
