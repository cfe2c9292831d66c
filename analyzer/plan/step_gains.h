// SPDX-License-Identifier: Apache-2.0
//
// Whether steps of a plan gain more than their predictions may be wrong. Values; pure.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/plan/plan.h"
#include "analyzer/predict/attribution.h"

namespace penstock::analyzer {

// How far a prediction's interval reaches below its rate, as a fraction of the rate.
[[nodiscard]] double WidthBelow(const Prediction& predicted);

// Whether a step surely gains: its gain is larger than 1 even at the low end of its prediction's
// interval. `gain`: the step's gain on top of the steps before it. `predicted`: the prediction with
// the step and those before it.
[[nodiscard]] bool Gains(double gain, const Prediction& predicted);

// Whether a step surely gains on top of the steps before it. Some of these may be pending: not yet
// in the plan. Together with the pending steps, the step must also gain on top of the plan. `plan`:
// the speed-up of the plan so far. `before`: the speed-up with the pending steps too. `predicted`:
// the prediction with the pending steps and this step.
[[nodiscard]] bool GainsTogether(double plan, double before, const Prediction& predicted);

// Whether steps[i] does not surely gain by itself, but surely gains together with steps after it.
[[nodiscard]] bool GainsWithNext(const std::vector<PlanStep>& steps, std::size_t i);

// Sets PlanStep::limited_by to the bottleneck of `after`, the attribution with this step and those
// before it, and PlanStep::also_limits to a part that gains as much. The training step is no limit
// that later steps of the plan pass by 5 %, or `free`, the speed-up if data cost nothing, by 10 %:
// it may take longer than any one part of the data path, but all parts together hold the run back.
// Then the largest of these parts is named. Requires: after.size() == steps.size().
void NameLimits(const std::vector<Attribution>& after, double free, std::vector<PlanStep>& steps);

}  // namespace penstock::analyzer
