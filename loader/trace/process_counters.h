// SPDX-License-Identifier: Apache-2.0
//
// The kernel's counters of this process. Values, thread-safe.
#pragma once

#include <cstdint>

#include "traces/base/units.h"
#include "traces/event.h"

namespace penstock::loader {

struct ProcessCounters {
  TimeNs cpu;  // of all threads since the start
  Bytes rss;
  Bytes rchar;      // read by calls on any file; 0: not known
  Bytes disk_read;  // read from a device
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
  std::uint64_t threads = 0;
};

// Cost: about 20 us.
[[nodiscard]] ProcessCounters ReadProcessCounters();

// pid, parent, start time and short name of this process.
[[nodiscard]] traces::ProcessInfo DescribeProcess();

// Nanoseconds of CLOCK_MONOTONIC.
[[nodiscard]] TimeNs MonotonicNow();

}  // namespace penstock::loader
