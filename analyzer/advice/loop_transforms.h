// SPDX-License-Identifier: Apache-2.0
//
// Transforms of whole batches that the training loop computes itself, for the rules about them.
// Pure.
#pragma once

#include <optional>

#include "analyzer/advice/rules.h"

namespace penstock::analyzer {

struct LoopTransforms {
  double share = 0;  // share of the loop's time
  int workers = 0;   // number of workers that would do them while the step runs
  Prediction predicted;
};

// nullopt if the transforms take less than a tenth of the loop (ours), if the loop waits a fifth of
// its time, or if `workers` workers gain less than 5 % more with the transforms than without them.
// Also nullopt if threads fill batches together, or if several loaders are used
// together.
[[nodiscard]] std::optional<LoopTransforms> FindLoopTransforms(const RuleInput& input);

// Changes `pipeline`: one thread of a worker does the work that the threads of the step did
// together.
void MoveLoopTransforms(Pipeline& pipeline);

}  // namespace penstock::analyzer
