// SPDX-License-Identifier: Apache-2.0
//
// What the agent knows of CUPTI in the process that owns the device. Begun once, by the driver's
// call; from then on the flush thread's, but for the atomics.
#pragma once

#include <stdint.h>

#include "agent/gpu/cupti_library.h"
#include "agent/gpu/device_clock.h"

namespace penstock::agent::cupti {

struct Session {
  uint32_t pid;     // of the process that began it, 0: none
  uint32_t begun;   // atomic: once in a process image
  uint32_t closed;  // atomic: nobody reads CUPTI's buffers any more
  uint32_t stop;    // atomic, futex: the last flush is wanted
  uint32_t done;    // atomic, futex: 1: it was made and told of; 2: CUPTI records nothing any more
  bool own_clock;   // CUPTI stamps with ours
  double ticks_per_ns;
  void* subscriber;
  Library cupti;
  DeviceClock clock;
};
extern Session g_session;

// False in a forked child, which must not touch CUPTI.
bool SessionIsOurs();
uint64_t MonotonicNs();
// Reads the clock of the records and the recording's together.
void ReadClocks();
// Starts the thread that flushes and sees to it that the end of the program waits for its last
// round, within bounds. False: there is no thread to be had.
bool StartFlushing();
// CUPTI records nothing from here on.
void DisableRecords();

}  // namespace penstock::agent::cupti
