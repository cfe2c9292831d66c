// SPDX-License-Identifier: Apache-2.0
//
// What starting the workers of an epoch takes. Units: seconds.
#pragma once

#include <vector>

#include "analyzer/model/run_model.h"

namespace penstock::analyzer {

// The part of an epoch's start-up that belongs to what was recorded of it, 0 to 1.
//
// Start-up is charged in full to an epoch that was seen to its end, and in proportion to one whose
// recording was cut short; to nothing when its length is unknown.
// `ended_mean`: batches of the epochs that were seen to their ends, on average; 0: there are none.
[[nodiscard]] double Amortised(const LoaderRun& run, const Epoch& epoch, double ended_mean);

// By worker: from the call for an iterator to its first index, times `charged`; of the process
// alone where there are no workers. Empty where the beginning of the epoch was not seen.
[[nodiscard]] std::vector<double> WorkerStarts(const LoaderRun& run, const Epoch& epoch,
                                               double charged);

// What each further worker adds to the start of all: they are started one after the other, and no
// index is sent before the last of them was. What happens once before the first of them (a dataset
// that is made ready, a forkserver) does not grow with them: where they were seen to appear, the
// time between them tells, and one alone tells no more than a usual start.
// `starts`: WorkerStarts() of the epoch.
[[nodiscard]] double OneMoreStart(const LoaderRun& run, const Epoch& epoch,
                                  const std::vector<double>& starts, double charged);

}  // namespace penstock::analyzer
