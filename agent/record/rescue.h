// SPDX-License-Identifier: Apache-2.0
//
// What is done for the trace when the collector was killed: what it had written and what is still
// in the ring become one trace.
#pragma once

#include <filesystem>

#include "agent/record/arena.h"
#include "traces/base/result.h"

namespace penstock::record {

// Writes `output` from `output`.part, if there is one, and the ring. Errors: kOutput, kInput.
[[nodiscard]] Result<void> Rescue(const std::filesystem::path& output, const Arena& arena);

}  // namespace penstock::record
