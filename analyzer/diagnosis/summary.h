// SPDX-License-Identifier: Apache-2.0
//
// The verdict in one sentence. Pure.
#pragma once

#include <string>

#include "analyzer/diagnosis/diagnosis.h"

namespace penstock::analyzer {

[[nodiscard]] std::string Summarise(const Diagnosis& diagnosis);

}  // namespace penstock::analyzer
