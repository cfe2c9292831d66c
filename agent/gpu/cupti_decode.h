// SPDX-License-Identifier: Apache-2.0
//
// Records of CUPTI, read by the prefix that every version shares, into device_records.h.
// Threads: the flush thread alone.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/gpu/cupti_abi.h"
#include "agent/gpu/device_clock.h"

namespace penstock::agent::cupti {

struct DecodeCounts {
  uint64_t unstamped;  // CUPTI could not take their time, they had not ended, or it is no time of
                       // the clock that the others are stamped with
  uint64_t unstamped_works;  // those of them that are copies, memsets and kernels
  uint64_t records;          // of all kinds
  uint64_t copies;           // of them, with or without times
  uint64_t unknown;          // of kinds that we do not know, or cut off by the end of their buffer
  uint64_t cost_ns;          // what CUPTI says that it cost the program
};

// `system_threads`: records name threads as the kernel does.
bool PrepareDecoder(const Functions& functions, bool system_threads);
struct Decoded {
  uint64_t records;
  size_t unread;  // bytes behind a record that CUPTI calls invalid or incomplete
};
// Requires: `valid` bytes at `buffer`.
Decoded DecodeBuffer(uint8_t* buffer, size_t valid, const DeviceClock& clock, double ticks_per_ns);
DecodeCounts CountDecoded();

}  // namespace penstock::agent::cupti
