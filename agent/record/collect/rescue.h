// SPDX-License-Identifier: Apache-2.0
//
// Makes a trace after the collector was killed: from its unfinished file and from the records that
// are still in the ring.
#pragma once

#include <filesystem>

#include "agent/record/collect/arena.h"
#include "traces/base/result.h"

namespace penstock::record {

// Writes `output` from `output`.part, if there is one, and the ring. Returns the path of the trace.
// With `force` it replaces a trace of that name, else it gets a name beside it. `output`.part is
// removed when that is done, and stays as it is until then. Errors: kOutput, kInput; kEnvironment
// if `output`.part is being written, or if it cannot be read now.
[[nodiscard]] Result<std::filesystem::path> Rescue(const std::filesystem::path& output,
                                                   const Arena& arena, bool force);

}  // namespace penstock::record
