// SPDX-License-Identifier: Apache-2.0
//
// How many workers of a loader get something to do: no more than the dataset has shards. Pure.
#pragma once

#include <cstddef>

#include "analyzer/model/run_model.h"

namespace penstock::analyzer {

struct WorkerUse {
  std::size_t workers = 0;       // that made a batch in the epoch that used most
  const Epoch* epoch = nullptr;  // of the run that was asked; nullptr: not known
};

// All workers and no epoch while that is not known: it takes an epoch that was seen to end, with
// two batches for each worker, all of them seen being made.
[[nodiscard]] WorkerUse WorkersUsed(const LoaderRun& run);

// The most workers that an iterable dataset keeps busy: 0 where all had something to do, or where
// that is not known.
[[nodiscard]] int MostUsefulWorkers(const LoaderRun& run);

}  // namespace penstock::analyzer
