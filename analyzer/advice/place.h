// SPDX-License-Identifier: Apache-2.0
//
// Where on the timeline a finding shows. Pure.
#pragma once

#include "analyzer/advice/rules.h"

namespace penstock::analyzer {

// The steady part of the run, and the process that trains. Requires: diagnosis.loader.
void PlaceInLoop(const RuleInput& input, Finding& finding);
// The same part of the run, and the workers.
void PlaceInWorkers(const RuleInput& input, Finding& finding);

}  // namespace penstock::analyzer
