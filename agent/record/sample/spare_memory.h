// SPDX-License-Identifier: Apache-2.0
//
// How much memory files may take beside a run. Thread-safe.
#pragma once

#include "traces/base/units.h"

namespace penstock::record {

// Half of what is free, in the machine and in our cgroup: what the page cache or a tmpfs can take
// without pushing anything out.
[[nodiscard]] Bytes MemoryToSpare();

}  // namespace penstock::record
