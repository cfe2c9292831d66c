// SPDX-License-Identifier: Apache-2.0
//
// CPU time of batches that other threads spend (OpenMP, torch.set_num_threads, a pool that the
// dataset starts). Spans hold only the CPU time of the thread that runs them. Pure.
#pragma once

#include <span>

#include "analyzer/measure/recorded_costs.h"
#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"
#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// Adds `seconds` of CPU time to each batch. It goes to the parts other than reads in which the
// recorded thread waited, in proportion to that waiting. If the CPU time of such a part exceeds its
// wall time, several threads compute the part at once.
//
// If there are more threads than cores, a part ends only when the last thread has had its turn. So
// if the replay makes the batches faster than the recording did, more CPU time is added, up to
// three times `seconds`. Sets threads_doubt to the share of the batches' time that is waiting
// beyond `seconds`.
//
// Shapes:   making: [batches of the pipeline], seconds that each took to be made.
// Cost:     at most eight simulations of up to 1024 batches.
void AddWorkerThreads(const LoaderRun& run, const SteadyState& steady, double seconds,
                      std::span<const double> making, Pipeline& pipeline);

// Adds `seconds` of CPU time to each batch, computed by others while the thread that fetches the
// batch waits for them. Others are processes that help and, without workers, threads of the
// training process.
void AddThreadsBeside(double seconds, Pipeline& pipeline);

// Moves the time that a worker waits for the dataset's own threads to the stages in which these
// threads spend their time, in proportion. The worker's own CPU time stays where it is.
//
// Requires: the batches of `pipeline` are those of `recorded`, and already include what other
//           threads compute.
void ShareWaitForThreads(const RecordedRun& recorded, Pipeline& pipeline);

}  // namespace penstock::analyzer
