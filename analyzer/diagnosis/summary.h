// SPDX-License-Identifier: Apache-2.0
//
// The verdict in one sentence. Pure.
#pragma once

#include <string>

#include "analyzer/diagnosis/diagnosis.h"

namespace penstock::analyzer {

[[nodiscard]] std::string Summarise(const Diagnosis& diagnosis);

// "412", "7.83", "0.12": three figures, as many as a rate deserves.
[[nodiscard]] std::string ShortNumber(double value);

}  // namespace penstock::analyzer
