// SPDX-License-Identifier: Apache-2.0
//
// What a step of a plan changes, in words, and what it costs by itself. Pure functions.
#pragma once

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/plan/levers.h"
#include "analyzer/plan/plan.h"
#include "analyzer/plan/search.h"

namespace penstock::analyzer {

// Each function fills in the fields that apply to its kind of change: id, value, change, risk,
// notes, and the costs in disk space and lines of code. `now` and `end` are the arguments in the
// recorded run and with the whole plan.
void DescribeLever(const Lever& lever, PlanStep& step);
void DescribeWorkers(const Diagnosis& diagnosis, const Combination& now, const Combination& end,
                     PlanStep& step);
void DescribePrefetch(const Diagnosis& diagnosis, const Combination& now, const Combination& end,
                      PlanStep& step);

// Fills in what the run needs once the step is done, and whether `before` needed the same.
// Requires: the step's prediction and setting.
void DescribeNeeds(const LoaderDiagnosis& loader, const PlanCost& before, PlanStep& step);

}  // namespace penstock::analyzer
