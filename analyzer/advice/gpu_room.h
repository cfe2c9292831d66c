// SPDX-License-Identifier: Apache-2.0
//
// What moving a stage to the GPU would gain, for the two rules that say so. Pure.
#pragma once

#include <optional>

#include "analyzer/advice/rules.h"

namespace penstock::analyzer {

struct GpuMove {
  Prediction predicted;         // the stage gone from the CPU, nothing added to the step
  double break_even = 0;        // GPU seconds a sample may take before the gain falls below 10 %
  double share = 0;             // of the stage in the workers' time
  double cpu = 0;               // saturation of the usable cores
  double seconds_per_core = 0;  // CPU time of the stage for one sample, 0: not known
};

// nullopt where it is no use or not known: no GPU in the trace, cores not full, the loop does not
// wait, or less than 10 % to gain (diagnosis.md R33).
[[nodiscard]] std::optional<GpuMove> MoveToGpu(const RuleInput& input, traces::StageId stage,
                                               Factor factor);

// The part of both findings that is the same.
void Describe(const GpuMove& move, Finding& finding);

}  // namespace penstock::analyzer
