// SPDX-License-Identifier: Apache-2.0
//
// What is done for the trace when the collector was killed: what it had written and what is still
// in the ring become one trace.
#pragma once

#include <filesystem>

#include "agent/record/collect/arena.h"
#include "traces/base/result.h"

namespace penstock::record {

// Writes `output` from `output`.part, if there is one, and the ring; returns where it is. A trace
// of that name is replaced with `force`, else the new one is given a name beside it. `output`.part
// goes when that is done, and stays as it is until then. Errors: kOutput, kInput.
[[nodiscard]] Result<std::filesystem::path> Rescue(const std::filesystem::path& output,
                                                   const Arena& arena, bool force);

}  // namespace penstock::record
