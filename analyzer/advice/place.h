// SPDX-License-Identifier: Apache-2.0
//
// Sets where the timeline shows a finding: its time and its processes. Pure.
#pragma once

#include "analyzer/advice/rules.h"

namespace penstock::analyzer {

// Places `finding` in the steady part and in the training process. Requires: diagnosis.loader.
void PlaceInLoop(const RuleInput& input, Finding& finding);
// Places `finding` in the steady part and in the workers.
void PlaceInWorkers(const RuleInput& input, Finding& finding);

}  // namespace penstock::analyzer
