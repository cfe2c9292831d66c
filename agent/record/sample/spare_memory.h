// SPDX-License-Identifier: Apache-2.0
//
// How much memory copies of files may take during a run. Thread-safe.
#pragma once

#include "traces/base/units.h"

namespace penstock::record {

// Half of what is available in the machine or in our cgroup, whichever is less. Page cache that the
// kernel can free counts as available, so copies may displace files, but no memory of a program.
[[nodiscard]] Bytes MemoryToSpare();

}  // namespace penstock::record
