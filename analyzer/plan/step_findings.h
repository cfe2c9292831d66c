// SPDX-License-Identifier: Apache-2.0
//
// Which findings a step of a plan is an answer to. Values; pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/advice/finding.h"
#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/plan/levers.h"
#include "analyzer/plan/plan.h"

namespace penstock::analyzer {

// The ids of the findings in `findings` whose cause the step with the id `step` removes or lessens.
// `more_workers`: for "num_workers", whether the step adds workers.
[[nodiscard]] std::vector<std::string> FindingsOfStep(std::string_view step, bool more_workers,
                                                      const std::vector<Finding>& findings);

// Whether the step is a stronger change than the one whose gain the finding predicts.
[[nodiscard]] bool GoesFurther(std::string_view step, std::string_view finding);

// The findings to which a step with `lever` would be an answer.
[[nodiscard]] std::vector<std::string> RemediedBy(const Lever& lever,
                                                  const std::vector<Finding>& findings);

// Findings with a gain of their own to which no step of `plan` is an answer, and whose gain on top
// of it Plan::rest does not tell. Those about workers and prefetch depth are left out: the plan has
// found the best of both. `end`: the levers of the plan's end.
[[nodiscard]] std::vector<PlanLeft> FindingsLeftBy(const Plan& plan, const Diagnosis& diagnosis,
                                                   const std::vector<Finding>& findings,
                                                   const Levers& levers, LeverSet end);

}  // namespace penstock::analyzer
