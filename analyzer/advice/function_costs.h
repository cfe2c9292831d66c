// SPDX-License-Identifier: Apache-2.0
//
// What rules about functions of the program have in common.
#pragma once

#include <cstdint>

#include "analyzer/advice/rules.h"

namespace penstock::analyzer {

// The prediction if this share of the workers' time, spent in samples or in collating, were gone.
// Requires: input.diagnosis.loader.
[[nodiscard]] Prediction WithoutShare(const RuleInput& input, traces::StageId stage, double share);

// Whether what workers do was followed often enough for a finding.
[[nodiscard]] bool Tells(const FunctionProfile& profile);

[[nodiscard]] Severity SeverityOf(const Prediction& prediction);

// 0 where no line was followed.
[[nodiscard]] std::uint32_t HottestLine(const FunctionTime& function);

}  // namespace penstock::analyzer
