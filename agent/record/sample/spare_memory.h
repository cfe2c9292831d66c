// SPDX-License-Identifier: Apache-2.0
//
// How much memory copies of files may take during a run. Thread-safe.
#pragma once

#include "traces/base/units.h"

namespace penstock::record {

// Half of the memory that is available in the machine or in our cgroup, whichever has less. Page
// cache that the kernel can free counts as available. So copies may displace cached files, but no
// memory of a program.
[[nodiscard]] Bytes MemoryToSpare();

}  // namespace penstock::record
