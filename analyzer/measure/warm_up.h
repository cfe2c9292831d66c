// SPDX-License-Identifier: Apache-2.0
//
// What the first batch of a process costs beyond the others: code that is loaded, pages that are
// copied on first write, tables that a codec makes once.
#pragma once

#include <span>

#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"
#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// First batches of new workers (without workers: of the process) are made as cheap as the others;
// what they took beyond becomes EpochDemand::warm_up of the epochs in which workers start, by which
// number of workers ever, times `charged`: see starts.h.
// Shapes:   charged: [epochs of the run].
// Requires: the epochs of `pipeline` are those of `run`, unless it is of sample tasks.
//
// Done where they take 1.2 times the others on average, and more than two standard errors beyond
// them (ours; the 75 recordings of the validation's faults have 1.5 to 2 times).
void SetWarmUpApart(const LoaderRun& run, const SteadyState& steady,
                    std::span<const double> charged, Pipeline& pipeline);

}  // namespace penstock::analyzer
