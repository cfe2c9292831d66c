// SPDX-License-Identifier: Apache-2.0
//
// Measures of jitter, order, idleness and start-up of a loader. Pure.
#pragma once

#include "analyzer/diagnosis/diagnosis.h"

namespace penstock::analyzer {

[[nodiscard]] Signals MeasureSignals(const RunModel& model, const LoaderRun& run,
                                     const SteadyState& steady);

}  // namespace penstock::analyzer
