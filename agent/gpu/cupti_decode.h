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
                       // the time is too far from the readings of DeviceClock
  uint64_t unstamped_works;  // those of `unstamped` that are copies, memsets or kernels
  uint64_t records;          // of all known kinds; not those in `unknown`
  uint64_t copies;           // those of `records` that are copies, with or without times
  uint64_t unknown;          // of unknown kinds, or cut off by the end of a buffer
  uint64_t cost_ns;          // CUPTI's cost to the program, as CUPTI says
};

// `system_threads`: records have the kernel's thread ids.
bool PrepareDecoder(const Functions& functions, bool system_threads);
struct Decoded {
  uint64_t records;
  size_t unread;  // bytes left when CUPTI calls the next record invalid or incomplete; else 0
};
// Requires: `valid` bytes at `buffer`.
Decoded DecodeBuffer(uint8_t* buffer, size_t valid, const DeviceClock& clock, double ticks_per_ns);
DecodeCounts CountDecoded();

}  // namespace penstock::agent::cupti
