// SPDX-License-Identifier: Apache-2.0
//
// How long it takes to start the workers of an epoch. Units: seconds.
#pragma once

#include <vector>

#include "analyzer/model/run_model.h"

namespace penstock::analyzer {

// The share of an epoch's start-up that counts for the recorded part of it, 0 to 1.
//
// An epoch that was seen to end counts in full, one whose recording was cut short in proportion to
// its length, and not at all if its length is unknown. `ended_mean`: mean number of batches of the
// epochs that were seen to end; 0: there are none.
[[nodiscard]] double Amortised(const LoaderRun& run, const Epoch& epoch, double ended_mean);

// By worker: the time from the call for an iterator to its first fetch, times `charged`. Without
// workers: one entry, for the process. Empty if the beginning of the epoch was not seen.
[[nodiscard]] std::vector<double> WorkerStarts(const LoaderRun& run, const Epoch& epoch,
                                               double charged);

// How much each further worker adds to the start of all: workers are started one after the other,
// and no index is sent before all are started. What happens once before the first one (a dataset is
// prepared, a forkserver starts) does not grow with their number. If workers were seen to appear,
// the time between them tells; a single worker counts as a usual start. `starts`: WorkerStarts() of
// the epoch.
[[nodiscard]] double OneMoreStart(const LoaderRun& run, const Epoch& epoch,
                                  const std::vector<double>& starts, double charged);

}  // namespace penstock::analyzer
