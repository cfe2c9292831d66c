// SPDX-License-Identifier: Apache-2.0
//
// Measures the signals of one loader: jitter, order, idle workers and start-up. Pure.
#pragma once

#include "analyzer/diagnosis/diagnosis.h"

namespace penstock::analyzer {

[[nodiscard]] Signals MeasureSignals(const RunModel& model, const LoaderRun& run,
                                     const SteadyState& steady);

// Sets worker_busy and worker_idle to shares of the workers' lives, for a diagnosis of the whole
// run.
void CountWholeLives(const LoaderRun& run, Signals& signals);

}  // namespace penstock::analyzer
