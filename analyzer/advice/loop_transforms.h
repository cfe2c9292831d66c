// SPDX-License-Identifier: Apache-2.0
//
// Transforms of whole batches that the training loop computes itself, for the rules that speak of
// them. Pure.
#pragma once

#include <optional>

#include "analyzer/advice/rules.h"

namespace penstock::analyzer {

struct LoopTransforms {
  double share = 0;  // of the loop's time
  int workers = 0;   // that would do them beside the step
  Prediction predicted;
};

// nullopt where they take less than a tenth of the loop (ours), the loop waits a fifth of the time,
// or less than 5 % is to be gained by workers that do them for each sample.
[[nodiscard]] std::optional<LoopTransforms> FindLoopTransforms(const RuleInput& input);

// One thread of a worker does, for each sample, what the step's threads did together.
void MoveLoopTransforms(Pipeline& pipeline);

}  // namespace penstock::analyzer
