// SPDX-License-Identifier: Apache-2.0
//
// What the kernel counts of this process. The functions keep no state, so any thread may call them.
#pragma once

#include <cstdint>

#include "traces/base/units.h"
#include "traces/event.h"

namespace penstock::loader {

// A counter that the kernel does not give is 0.
struct ProcessCounters {
  TimeNs cpu;       // of all threads since the process began
  Bytes rss;        // resident memory at this moment
  Bytes rchar;      // what read calls returned, of any file
  Bytes disk_read;  // what was fetched from a block device
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
  std::uint64_t threads = 0;
};

// Cost: about 20 us.
[[nodiscard]] ProcessCounters ReadProcessCounters();

// Only pid, parent, start time and short name of this process are set.
[[nodiscard]] traces::ProcessInfo DescribeProcess();

// Nanoseconds of CLOCK_MONOTONIC.
[[nodiscard]] TimeNs MonotonicNow();

}  // namespace penstock::loader
