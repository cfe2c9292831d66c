// SPDX-License-Identifier: Apache-2.0
//
// What would tell where a trace cannot. Values; pure.
#pragma once

#include <vector>

#include "analyzer/plan/levers.h"
#include "analyzer/plan/plan.h"

namespace penstock::analyzer {

// Experiments for changes that the trace says too little about, for findings whose gain is an upper
// bound, and for the reference loader if it has the operations seen; if they could gain 5 % alone.
[[nodiscard]] std::vector<PlanExperiment> FindExperiments(const traces::Trace& trace,
                                                          const Diagnosis& diagnosis,
                                                          const std::vector<Finding>& findings,
                                                          const Levers& levers,
                                                          const PlanRequest& request);

// The operations of the run as `penstock load --ops` names them: "random_resized_crop=224,flip";
// "" where the reference loader lacks one, or none was seen.
[[nodiscard]] std::string OperationsOf(const traces::Trace& trace, const Diagnosis& diagnosis);

}  // namespace penstock::analyzer
