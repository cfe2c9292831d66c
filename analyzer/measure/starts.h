// SPDX-License-Identifier: Apache-2.0
//
// How long it takes to start the workers of an epoch. Units: seconds.
#pragma once

#include <vector>

#include "analyzer/model/run_model.h"

namespace penstock::analyzer {

// The share of an epoch's start-up that counts for the recorded part of the epoch, 0 to 1.
//
// The start-up of an epoch that was seen to end counts in full. If the recording cut the epoch
// short, start-up counts in proportion to the recorded batches, or not at all if the epoch's length
// is unknown. `ended_mean`: mean number of batches of the epochs that were seen to end; 0: there
// are none.
[[nodiscard]] double Amortised(const LoaderRun& run, const Epoch& epoch, double ended_mean);

// By worker that made a batch in the epoch: the time from the call for an iterator to the worker's
// first fetch, times `charged`. Without workers: one entry, for the process. Empty if the beginning
// of the epoch was not seen.
[[nodiscard]] std::vector<double> WorkerStarts(const LoaderRun& run, const Epoch& epoch,
                                               double charged);

// How much each further worker adds to the start-up time of all: workers are started one after the
// other, and no index is sent before all are started. Work before the first worker (a dataset is
// prepared, a forkserver starts) happens once, for any number of workers. If several workers were
// seen to start, the result is the mean time between their starts. For a single worker a usual
// value is assumed. `starts`: WorkerStarts() of the epoch.
[[nodiscard]] double OneMoreStart(const LoaderRun& run, const Epoch& epoch,
                                  const std::vector<double>& starts, double charged);

}  // namespace penstock::analyzer
