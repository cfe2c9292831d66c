// SPDX-License-Identifier: Apache-2.0
//
// What changes that a plan leaves out would gain on top of it. Values; pure.
#pragma once

#include <vector>

#include "analyzer/advice/finding.h"
#include "analyzer/plan/levers.h"
#include "analyzer/plan/plan.h"
#include "analyzer/plan/predict_combination.h"
#include "analyzer/plan/search.h"

namespace penstock::analyzer {

// For findings that no step of `steps` answers: what a lever that the plan leaves out, or a deeper
// queue, would gain on top of the plan. `end`: the combination that the plan reaches.
// Cost: some 10 simulations for each lever.
[[nodiscard]] std::vector<PlanRest> GainsBeyond(const Combination& end,
                                                const std::vector<PlanStep>& steps,
                                                const std::vector<Finding>& findings,
                                                const Levers& levers, PlanSpace& space,
                                                CombinationPredictor& predictor);

}  // namespace penstock::analyzer
