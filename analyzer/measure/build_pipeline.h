// SPDX-License-Identifier: Apache-2.0
//
// From a recording to the pipeline that the simulator runs. Pure.
#pragma once

#include "analyzer/measure/cpu_load.h"
#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"
#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// The recorded configuration of `run`, with the services that were seen. `load`: of the same run.
[[nodiscard]] Pipeline BuildPipeline(const RunModel& model, const LoaderRun& run,
                                     const SteadyState& steady, const CpuLoad& load);

// Sets the load of the steps, which last `step` of `time` seconds, from the CPU seconds that the
// training process computes outside of the loader. The process's other work would be most of the
// ratio where steps hardly take time: their load is not known then, and one core at most.
// Returns the cores that a step may keep busy.
double SetStepLoad(double outside, double step, double time, Pipeline& pipeline);

}  // namespace penstock::analyzer
