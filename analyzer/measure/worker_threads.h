// SPDX-License-Identifier: Apache-2.0
//
// What other threads compute for batches (OpenMP, torch.set_num_threads, a pool that the dataset
// starts): spans hold the CPU time of the thread that runs them alone. Pure.
#pragma once

#include <span>

#include "analyzer/measure/recorded_costs.h"
#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"
#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// Adds `seconds` of CPU time to each batch, to the parts in which the recorded thread waited though
// there was nothing to read, in proportion to that waiting. The CPU time of such a part may exceed
// its wall time: then it is computed with several threads at once.
//
// More threads than cores end together, the last of them when it has had its turn: what the replay
// is faster to make the batches than the recording was is added too, up to three times `seconds`.
//
// Shapes:   making: [batches of the pipeline], seconds that each took to be made.
// Cost:     at most eight simulations of the first thousand batches.
void AddWorkerThreads(const LoaderRun& run, const SteadyState& steady, double seconds,
                      std::span<const double> making, Pipeline& pipeline);

// Adds `seconds` of CPU time to each batch that others compute while who fetches it waits for them:
// processes that help, and without workers, threads of the training process.
void AddThreadsBeside(double seconds, Pipeline& pipeline);

// Moves what who makes a batch waits for the dataset's own threads to the stages that these spend
// their time in: without such a stage the wait would be shorter by its share of that time. What a
// thread computed for itself stays where it is.
//
// Requires: the batches of `pipeline` are those of `recorded`; what other threads compute is in
//           them already.
void ShareWaitForThreads(const RecordedRun& recorded, Pipeline& pipeline);

}  // namespace penstock::analyzer
