// SPDX-License-Identifier: Apache-2.0
//
// Whether steps of a plan gain more than their predictions may be wrong. Values; pure.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/plan/plan.h"

namespace penstock::analyzer {

// Whether a step surely gains: the interval of its prediction, as a fraction of the rate, does not
// reach down to no gain. `gain`: on top of the steps before it. `predicted`: with these and itself.
[[nodiscard]] bool Gains(double gain, const Prediction& predicted);

// Whether a step surely gains on top of the steps before it, and gains together with those of them
// that the plan does not have yet. Speed-ups: `plan` of the plan so far, `before` without the step.
// `predicted`: with it.
[[nodiscard]] bool GainsTogether(double plan, double before, const Prediction& predicted);

// Whether steps[i] does not surely gain by itself, but does together with steps after it.
[[nodiscard]] bool GainsWithNext(const std::vector<PlanStep>& steps, std::size_t i);

}  // namespace penstock::analyzer
