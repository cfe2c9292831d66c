// SPDX-License-Identifier: Apache-2.0
//
// Builds one pipeline from several loaders that the training loop uses together. Pure.
#pragma once

#include <optional>

#include "analyzer/measure/cpu_load.h"
#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"
#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// Joins `run` with the loaders that the loop uses together with it. The result is one epoch
// without start-up: the batches of all these loaders, in the order in which the loop took them. A
// step lasts from one batch to the next batch of any of the loaders. `steady` and `load` are those
// of `run`. A batch of another loader is counted if the next batch of `run` is counted.
//
// Returns nullopt if no other loader is used together with `run`, or if one of them cannot be
// simulated. A loader cannot be simulated if it makes batches sample by sample in threads, repeats
// one fixed batch or has no batches, if fewer than half of its batches were seen being made, if the
// loop does not take all batches on one thread, or if more than 5 % of its steady batches are the
// first ones of an epoch.
[[nodiscard]] std::optional<Pipeline> BuildTogether(const RunModel& model, const LoaderRun& run,
                                                    const SteadyState& steady, const CpuLoad& load);

}  // namespace penstock::analyzer
