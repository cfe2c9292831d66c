// SPDX-License-Identifier: Apache-2.0
//
// Why a number of workers may be slower than a smaller one. Values; pure.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/simulate/pipeline.h"
#include "analyzer/whatif/grid.h"
#include "analyzer/words/message.h"

namespace penstock::analyzer {

// PyTorch hands batches to workers in turn. If every n-th batch takes long and n and the number of
// workers have a common divisor, the same few workers make all long batches. Returns a statement on
// the deepest fall of the predicted rate from one number of workers to a greater one, if that is
// the reason; nullopt: there is none. `steady`: from SteadyPart(), with the changes of the grid.
[[nodiscard]] std::optional<Statement> UnevenTurns(const Pipeline& steady,
                                                   const std::vector<Configuration>& rates);

}  // namespace penstock::analyzer
