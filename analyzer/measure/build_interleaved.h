// SPDX-License-Identifier: Apache-2.0
//
// Builds one loader model from several loaders whose batches the training loop interleaves. Pure.
#pragma once

#include <optional>

#include "analyzer/measure/cpu_load.h"
#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"
#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// Joins `run` with the loaders that are interleaved with it. The model has one epoch and no
// start-up cost. The epoch holds the batches of all these loaders in the order in which the loop
// took them. A step lasts from the delivery of a batch to the loop's next request to any loader,
// without the copy to the device. `steady` and `load` are those of `run`. A batch of another loader
// counts as steady if the next batch of `run` does.
//
// Returns nullopt if no other loader is interleaved with `run`, or if one of them cannot be
// simulated. A loader cannot be simulated if
// - its threads fill batches sample by sample, it repeats one fixed batch, or it has no batches;
// - fewer than half of its batches have a recorded fetch;
// - the loop takes one of its batches on another thread than the first batch of `run`;
// - more than 5 % of its batches in the steady part are first batches of an epoch.
[[nodiscard]] std::optional<Pipeline> BuildInterleaved(const RunModel& model, const LoaderRun& run,
                                                       const SteadyState& steady,
                                                       const CpuLoad& load);

}  // namespace penstock::analyzer
