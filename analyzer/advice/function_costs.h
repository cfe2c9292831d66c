// SPDX-License-Identifier: Apache-2.0
//
// Helpers of the rules about functions of the program.
#pragma once

#include "analyzer/advice/rules.h"

namespace penstock::analyzer {

// The recorded setting with this share of the workers' time, spent in samples or in collating,
// gone. Requires: input.diagnosis.loader.
[[nodiscard]] Setting WithoutShare(const RuleInput& input, traces::StageId stage, double share);

// Whether enough units of the workers were followed for a finding.
[[nodiscard]] bool Tells(const FunctionProfile& profile);

[[nodiscard]] Severity SeverityOf(const Prediction& prediction);

}  // namespace penstock::analyzer
