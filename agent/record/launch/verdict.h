// SPDX-License-Identifier: Apache-2.0
//
// What is said when a trace is done: where it is, what is missing, and the report's five lines.
#pragma once

#include <filesystem>

#include "agent/record/collect/channel.h"

namespace penstock::record {

// Prints to standard error; runs `penstock report TRACE --brief` if it lies beside this program.
// `totals`: values[] of kFinished.
void ShowVerdict(const std::filesystem::path& trace, const Message& totals);

}  // namespace penstock::record
