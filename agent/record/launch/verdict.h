// SPDX-License-Identifier: Apache-2.0
//
// What is printed when a trace is finished: where it is, what is missing, and the short report.
#pragma once

#include <filesystem>

#include "agent/record/collect/channel.h"

namespace penstock::record {

// Prints to standard error. Runs `penstock report TRACE --brief` if penstock lies beside this
// program. `totals`: a kFinished, or a message of another type if the collector was killed before
// it could count.
void ShowVerdict(const std::filesystem::path& trace, const Message& totals);

}  // namespace penstock::record
