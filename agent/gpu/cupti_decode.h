// SPDX-License-Identifier: Apache-2.0
//
// Reads CUPTI's records, using only the prefix that all versions share, and passes them to
// device_records.h.
// Threads: the flush thread alone.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/gpu/cupti_abi.h"
#include "agent/gpu/device_clock.h"

namespace penstock::agent::cupti {

struct DecodeCounts {
  uint64_t unstamped;  // records without a usable time: CUPTI took none, the work had not ended, or
                       // the time is of another clock than that of the other records
  uint64_t unstamped_works;  // those of them that are copies, memsets or kernels
  uint64_t records;          // of all kinds
  uint64_t copies;           // of them, with or without times
  uint64_t unknown;          // of unknown kinds, or cut off by the end of a buffer
  uint64_t cost_ns;          // CUPTI's cost to the program, as CUPTI says
};

// `system_threads`: records have the kernel's thread ids.
bool PrepareDecoder(const Functions& functions, bool system_threads);
struct Decoded {
  uint64_t records;
  size_t unread;  // bytes after a record that CUPTI calls invalid or incomplete
};
// Requires: `valid` bytes at `buffer`.
Decoded DecodeBuffer(uint8_t* buffer, size_t valid, const DeviceClock& clock, double ticks_per_ns);
DecodeCounts CountDecoded();

}  // namespace penstock::agent::cupti
