// SPDX-License-Identifier: Apache-2.0
//
// What the agent knows of CUPTI in the process that uses the device. Threads: the thread in which
// the driver calls InitializeInjection() sets everything before it starts the flush thread. From
// then on only the flush thread uses the fields, except for the atomic ones, which any thread may
// use. If no session could be begun, there is no flush thread.
#pragma once

#include <stdint.h>

#include "agent/gpu/cupti_library.h"
#include "agent/gpu/device_clock.h"

namespace penstock::agent::cupti {

struct Session {
  uint32_t pid;     // atomic: process that began the session; 0: none
  uint32_t begun;   // atomic: a session was begun or refused; there is no second try
  uint32_t closed;  // atomic: nobody reads CUPTI's buffers any more
  uint32_t stop;    // atomic, futex: asks for the last flush
  uint32_t done;    // atomic, futex: 1: the last records are written; 2: CUPTI no longer records
  bool own_clock;   // CUPTI takes its time stamps from our clock
  double ticks_per_ns;
  void* subscriber;
  Library cupti;
  DeviceClock clock;
};
extern Session g_session;

// Whether this process began the session. A forked child must not touch CUPTI.
bool SessionIsOurs();
uint64_t MonotonicNs();
// Reads the clock of CUPTI's records and that of the recording together.
void ReadClocks();
// Starts the flush thread, and makes the end of the program wait for its last round, within bounds.
// False if no thread could be started.
bool StartFlushing();
// Makes CUPTI record nothing from here on.
void DisableRecords();

}  // namespace penstock::agent::cupti
