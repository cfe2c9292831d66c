// SPDX-License-Identifier: Apache-2.0
//
// Which findings a step of a plan is an answer to. Values; pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/advice/finding.h"

namespace penstock::analyzer {

// The ids of the findings in `findings` whose cause the step with the id `step` removes or lessens.
// `more_workers`: for "num_workers", whether the step adds workers.
[[nodiscard]] std::vector<std::string> FindingsOfStep(std::string_view step, bool more_workers,
                                                      const std::vector<Finding>& findings);

// Whether the step is a stronger change than the one whose gain the finding predicts.
[[nodiscard]] bool GoesFurther(std::string_view step, std::string_view finding);

}  // namespace penstock::analyzer
