// SPDX-License-Identifier: Apache-2.0
//
// What a pipeline's batches cost because of where they were made, taken off them and put where it
// belongs: storage that all readers share, and workers that are slower than the others.
#pragma once

#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"
#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// Where reads slow each other down, or take turns, their waiting for one another is taken off, and
// the device (or the lock) is simulated instead.
// Requires: the batches of `pipeline` are those of `run`, with their reads as they were recorded.
void ShareStorage(const RunModel& model, const LoaderRun& run, Pipeline& pipeline);

// Batches of a worker that is slower than the others are made as cheap as theirs; what it takes
// longer becomes Pipeline::slower, regardless of the number of workers. When a worker is slow:
// analyzer/model/slow_workers.h.
void SetSlowWorkersApart(const LoaderRun& run, const SteadyState& steady, Pipeline& pipeline);

}  // namespace penstock::analyzer
