// SPDX-License-Identifier: Apache-2.0
//
// Experiments that would answer questions that a trace leaves open. Values; pure.
#pragma once

#include <vector>

#include "analyzer/plan/levers.h"
#include "analyzer/plan/plan.h"

namespace penstock::analyzer {

// Finds experiments for four purposes: to measure changes that the trace tells too little about, to
// test findings without a lever as remedy, to try fork as the start method, and to try the
// reference loader if it has the operations of the run. Leaves out experiments that cannot gain 5 %
// by themselves. Adds one for library threads that compete for the cores, although its gain is not
// predicted.
[[nodiscard]] std::vector<PlanExperiment> FindExperiments(const traces::Trace& trace,
                                                          const Diagnosis& diagnosis,
                                                          const std::vector<Finding>& findings,
                                                          const Levers& levers,
                                                          const PlanRequest& request);

// The operations of the run in the syntax of `penstock load --ops`: "random_resized_crop=224,flip".
// "" if the reference loader lacks one of them, if none of them sets the size of a sample, or if
// this size is not known.
[[nodiscard]] std::string OperationsOf(const traces::Trace& trace, const Diagnosis& diagnosis);

}  // namespace penstock::analyzer
