// SPDX-License-Identifier: Apache-2.0
//
// Explains why a greater number of workers may be slower than a smaller one. Values; pure.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "analyzer/predict/scenario.h"
#include "analyzer/simulate/pipeline.h"
#include "analyzer/whatif/grid.h"
#include "analyzer/words/statement.h"

namespace penstock::analyzer {

// The rate of the steady part of `pipeline` under the workers and depth of `setting`. The batches
// of `pipeline` may be in another order than recorded.
using RateUnder = std::function<double(const Pipeline& pipeline, const Configuration& setting)>;

// PyTorch hands batches to workers in turn. If every n-th batch takes long and n and the number of
// workers have a common divisor, the same few workers make all long batches. Examines the four
// deepest falls of the steady rate from one number of workers to a greater one. Returns a statement
// on the deepest fall that has this reason; nullopt if there is none. A fall has this reason if two
// conditions hold. First, with more workers, the work of the worker with the most work exceeds the
// mean by more. Second, with the batches in another order, this excess and the fall are at most
// half as large. `steady`: from SteadyPart(), with the changes of the grid. `rates`: configurations
// that differ only in workers and depth.
// Cost: some ten simulations if a rate falls.
[[nodiscard]] std::optional<Statement> UnevenTurns(const Pipeline& steady,
                                                   const std::vector<Configuration>& rates,
                                                   const RateUnder& rate_under);

// Says that one worker is slower than none because of the fresh memory that its batches need.
// nullopt if it is not slower by 3 %, or if this memory costs less than half of the difference.
// `rates`: the same as above. Other loaders than the main one are not considered.
[[nodiscard]] std::optional<Statement> OneWorkerIsSlower(const std::vector<Configuration>& rates,
                                                         const LoaderFacts& facts);

}  // namespace penstock::analyzer
