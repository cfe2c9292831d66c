// SPDX-License-Identifier: Apache-2.0
//
// Helpers of the rules about functions of the program.
#pragma once

#include "analyzer/advice/rules.h"

namespace penstock::analyzer {

// The recorded setting without `share` of the workers' time. A share that was spent in samples is
// taken from augmenting, which is all that a dataset does besides reading, decoding and tokenizing.
// What is more than that is taken from these three in proportion.
// Requires: input.diagnosis.loader.
[[nodiscard]] Setting WithoutShare(const RuleInput& input, traces::StageId stage, double share);

// Whether the profile was measured where data is made, in enough samples or collations, and these
// were as long as the others.
[[nodiscard]] bool Tells(const FunctionProfile& profile);

// What the recording lacks for a rule about functions that found nothing; empty: it lacks nothing.
[[nodiscard]] Statement NeedsOfFunctions(const FunctionProfiles& profiles);

[[nodiscard]] Severity SeverityOf(const Prediction& prediction);

}  // namespace penstock::analyzer
