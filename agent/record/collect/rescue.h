// SPDX-License-Identifier: Apache-2.0
//
// Makes a trace after the collector was killed, from the collector's unfinished file and from the
// records that are still in the ring.
#pragma once

#include <filesystem>

#include "agent/record/collect/arena.h"
#include "traces/base/result.h"

namespace penstock::record {

// Writes `output` from `output`.part, if there is one, and the ring. Returns the path of the trace.
// With `force` the trace replaces an existing one of that name; otherwise it gets another name in
// the same folder. `output`.part is removed when the trace is complete, and is not changed before.
// Errors: kOutput, kInput; kEnvironment if `output`.part is being written, or if it cannot be read
// now.
[[nodiscard]] Result<std::filesystem::path> Rescue(const std::filesystem::path& output,
                                                   const Arena& arena, bool force);

}  // namespace penstock::record
