// SPDX-License-Identifier: Apache-2.0
//
// Why a number of workers may be slower than a smaller one. Values; pure.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "analyzer/simulate/pipeline.h"
#include "analyzer/whatif/grid.h"
#include "analyzer/words/statement.h"

namespace penstock::analyzer {

// The rate of the steady part of `pipeline`, whose batches may be in another order, under the
// workers and depth of a configuration.
using RateUnder = std::function<double(const Pipeline& pipeline, const Configuration& setting)>;

// PyTorch hands batches to workers in turn. If every n-th batch takes long and n and the number of
// workers have a common divisor, the same few workers make all long batches. Returns a statement on
// the deepest fall of the steady rate from one number of workers to a greater one that has this
// reason: with more workers, the worker with the most work exceeds the mean by more, and with the
// batches in another order the fall and this excess are at most half as large. nullopt if there is
// no such fall. Only the four deepest falls are examined. `steady`: from SteadyPart(), with the
// changes of the grid. `rates`: configurations that differ in workers and depth only.
// Cost: some ten simulations if a rate falls.
[[nodiscard]] std::optional<Statement> UnevenTurns(const Pipeline& steady,
                                                   const std::vector<Configuration>& rates,
                                                   const RateUnder& rate_under);

}  // namespace penstock::analyzer
