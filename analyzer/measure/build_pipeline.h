// SPDX-License-Identifier: Apache-2.0
//
// Builds the loader model, which the simulator runs, from a recording. Pure.
#pragma once

#include "analyzer/measure/cpu_load.h"
#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"
#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// The loader model of `run` in its recorded setting, with the recorded batch costs. `load` is the
// CPU load of the same run.
[[nodiscard]] Pipeline BuildPipeline(const RunModel& model, const LoaderRun& run,
                                     const SteadyState& steady, const CpuLoad& load);

}  // namespace penstock::analyzer
