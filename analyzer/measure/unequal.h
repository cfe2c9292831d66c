// SPDX-License-Identifier: Apache-2.0
//
// Moves two costs of a pipeline's batches to their place in the loader model: waiting at storage
// that all readers share, and the extra time of workers that are slower than the others. A batch
// that takes the costs of another batch (Demand::source) is treated like that batch.
#pragma once

#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"
#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// If reads slow each other down, or take turns, subtracts the time that they waited for each other.
// The simulator plays the storage device, or the lock, instead.
// Requires: the batches of `pipeline` are those of `run`, with their reads as recorded.
void ShareStorage(const RunModel& model, const LoaderRun& run, Pipeline& pipeline);

// Makes the batches of a slow worker as cheap as those of the others. The difference becomes
// Pipeline::slower, which applies to any number of workers. analyzer/model/slow_workers.h says when
// a worker is slow.
void SetSlowWorkersApart(const LoaderRun& run, const SteadyState& steady, Pipeline& pipeline);

}  // namespace penstock::analyzer
