// SPDX-License-Identifier: Apache-2.0
//
// Several loaders that the loop drains together, as one pipeline. Pure.
#pragma once

#include <optional>

#include "analyzer/measure/cpu_load.h"
#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"
#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// `run` and the loaders that are drained together with it: the batches of all of them in the order
// in which the loop took them, as one epoch without start-up. The steps are those between two
// batches of whichever loader. `steady` and `load`: of `run`; batches of the others count where the
// interval of `run` counts in which they were taken.
//
// nullopt: there is no such loader, or they cannot be simulated: one is no loader of worker
// processes, or its making was not seen; the loop takes from them on several threads; one begins
// anew so often that its start is much of the work (5 % of its batches are first ones).
[[nodiscard]] std::optional<Pipeline> BuildTogether(const RunModel& model, const LoaderRun& run,
                                                    const SteadyState& steady, const CpuLoad& load);

}  // namespace penstock::analyzer
