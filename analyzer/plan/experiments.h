// SPDX-License-Identifier: Apache-2.0
//
// Experiments that would answer questions that a trace leaves open. Values; pure.
#pragma once

#include <vector>

#include "analyzer/plan/levers.h"
#include "analyzer/plan/plan.h"

namespace penstock::analyzer {

// Experiments for changes that the trace tells too little about, for findings whose gain is an
// upper bound, and for the reference loader if it has the operations that were seen. Only those
// that could gain 5 % by themselves.
[[nodiscard]] std::vector<PlanExperiment> FindExperiments(const traces::Trace& trace,
                                                          const Diagnosis& diagnosis,
                                                          const std::vector<Finding>& findings,
                                                          const Levers& levers,
                                                          const PlanRequest& request);

// The operations of the run in the syntax of `penstock load --ops`: "random_resized_crop=224,flip";
// "" if the reference loader lacks one, or if none was seen.
[[nodiscard]] std::string OperationsOf(const traces::Trace& trace, const Diagnosis& diagnosis);

}  // namespace penstock::analyzer
