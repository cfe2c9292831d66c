// SPDX-License-Identifier: Apache-2.0
//
// Prints the messages at the end of a trace: where it is, what is missing, and the short report.
#pragma once

#include <filesystem>

#include "agent/record/collect/channel.h"

namespace penstock::record {

// Prints to standard error. Runs `penstock report TRACE --brief` if penstock lies beside this
// program. `totals`: a message kFinished; another type if the collector was killed before it sent
// its counts.
void ShowVerdict(const std::filesystem::path& trace, const Message& totals);

}  // namespace penstock::record
