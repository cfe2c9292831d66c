// SPDX-License-Identifier: Apache-2.0
//
// Figures of a loader's whole run, start-up included. Values; pure.
#pragma once

#include "analyzer/model/run_model.h"

namespace penstock::analyzer {

// Samples per second from the start of the first epoch to the end of the last step, without the
// time of other loaders. If the end of the last step was not seen, this time ends with the delivery
// of its batch, whose samples do not count. 0 if there is only one batch: its step is not known.
[[nodiscard]] double WholeRate(const RunModel& model, const LoaderRun& run);

// The share of waits in the time of the loop, as in the stage table: waits for first batches and
// for other loaders count, and so do the last next() calls of epochs.
[[nodiscard]] double WholeWait(const RunModel& model, const LoaderRun& run);

}  // namespace penstock::analyzer
