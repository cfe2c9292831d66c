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

// Adds `seconds` of CPU time to a batch on average. It goes to decoding, augmenting, tokenizing and
// collating, in proportion to the time that the recorded thread waited in them. If the CPU time of
// such a part exceeds its wall time, several threads compute the part at once.
//
// If there are more threads than cores, a part ends only when the last thread has had its turn. So
// if the replay makes the batches faster than the recording did, further CPU time is added, at most
// three times `seconds`. Sets threads_doubt to the share of the batches' time that is waiting
// beyond `seconds`.
//
// Shapes:   making: [batches of the pipeline], seconds that each took to be made.
// Cost:     at most eight simulations of up to 1024 batches.
void AddWorkerThreads(const LoaderRun& run, const SteadyState& steady, double seconds,
                      std::span<const double> making, Pipeline& pipeline);

// Adds `seconds` of CPU time to a batch on average. Other threads and processes compute it while
// the thread that fetches the batch waits for them. These are helper processes and, without
// workers, threads of the training process.
void AddThreadsBeside(double seconds, Pipeline& pipeline);

// Moves the time that a fetch waits for the dataset's own threads to the stages in which these
// threads spend their time, in proportion. The CPU time of the fetching thread stays where it is.
// If the threads of a worker are busy nearly all the time, most of the time of collating moves too.
// The reason: with less time in collating, the worker would wait for these threads instead.
//
// Requires: the batches of `pipeline` are those of `recorded`, and already include what other
//           threads compute.
void ShareWaitForThreads(const RecordedRun& recorded, Pipeline& pipeline);

}  // namespace penstock::analyzer
