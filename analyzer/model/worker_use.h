// SPDX-License-Identifier: Apache-2.0
//
// How many workers of a loader have something to do: at most as many as the dataset has shards.
// Pure.
#pragma once

#include <cstddef>

#include "analyzer/model/run_model.h"

namespace penstock::analyzer {

struct WorkerUse {
  std::size_t workers = 0;       // workers that made a batch, in the epoch with most such workers
  const Epoch* epoch = nullptr;  // that epoch; nullptr: not known
};

// The use is known from an epoch with at least two batches for each worker, if the trace has its
// beginning, its end, and the fetches of all its batches. Without such an epoch: all workers, and
// no epoch.
[[nodiscard]] WorkerUse WorkersUsed(const LoaderRun& run);

// The most workers that an iterable dataset can keep busy; 0 if all had something to do, or if it
// is not known.
[[nodiscard]] int MostUsefulWorkers(const LoaderRun& run);

}  // namespace penstock::analyzer
