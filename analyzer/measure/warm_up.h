// SPDX-License-Identifier: Apache-2.0
//
// Separates the extra cost of the first batch of a process: code is loaded, pages are copied on
// first write, a codec makes its tables once.
#pragma once

#include <span>

#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"
#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// Makes the first batches of new workers (without workers: of the process) as cheap as the others.
// The difference, times `charged` (see starts.h), becomes EpochDemand::warm_up of each epoch in
// which workers start. It is the extra cost of one worker, so it holds for any number of workers.
//
// Shapes:   charged: [epochs of the run].
// Requires: the epochs of `pipeline` are those of `run`, unless its samples are made by threads.
//
// Changes the batches only if the first ones take, on average, more than 1.2 times as long as the
// others and more than two standard errors longer. These limits are ours: in the 75 recordings of
// the validation's faults, first batches take 1.5 to 2 times as long.
void SetWarmUpApart(const LoaderRun& run, const SteadyState& steady,
                    std::span<const double> charged, Pipeline& pipeline);

}  // namespace penstock::analyzer
