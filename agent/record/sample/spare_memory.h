// SPDX-License-Identifier: Apache-2.0
//
// How much memory copies of files may take during a run. Thread-safe.
#pragma once

#include "traces/base/units.h"

namespace penstock::record {

// Half of what is free in the machine or in our cgroup, whichever is less: the page cache or a
// tmpfs can take this without displacing anything.
[[nodiscard]] Bytes MemoryToSpare();

}  // namespace penstock::record
