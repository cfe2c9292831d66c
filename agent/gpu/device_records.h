// SPDX-License-Identifier: Apache-2.0
//
// Pairs the work of a device with the call that started it, in whatever order the two arrive, and
// writes both: the work on a lane for its stream, the call on a lane for the thread that made it.
// Both get the batch that the training loop worked on when the call was made.
// Threads: the flush thread alone.
#pragma once

#include <stdint.h>

#include "agent/core/thread_state.h"

namespace penstock::agent {

enum class CallClass : uint8_t { kOther, kCopy, kLaunch, kSync };

// Units: ticks of the recording.
struct DeviceCall {
  uint64_t start;
  uint64_t end;
  uint32_t correlation;
  uint32_t tid;
  const char* text;  // name of the function; lives as long as the process
  CallClass what;
  bool runtime;  // a call of the runtime API; the driver call inside has the same correlation
};

struct DeviceWork {
  uint64_t start;
  uint64_t end;
  uint64_t bytes;
  uint32_t device;
  uint32_t stream;
  uint32_t correlation;
  uint32_t name;     // string id
  const char* text;  // "H2D pageable" or "memset", lives as long as the process; kernels: nullptr
  Stage stage;
};

// False if there is no memory.
bool PrepareDeviceRecords();
void AddCall(const DeviceCall& call);
void AddWork(const DeviceWork& work);
// Adds a wait for the device that CUPTI recorded inside a call. Writes it as a span once that call
// is known, unless the call itself is written as a wait (CallClass::kSync).
void AddSync(uint32_t correlation, uint64_t start, uint64_t end);
// Ends a round, which is one flush of CUPTI's buffers. Calls and work that have had no partner for
// two rounds are written without one. Waits whose call has been unknown for two rounds are dropped.
// `all`: this is the last round, so all calls and all work are written.
void EndRound(bool all);

struct DeviceCounts {
  uint64_t works;
  uint64_t calls;
  uint64_t unpaired;  // work whose call was not seen
};
DeviceCounts CountDeviceRecords();

}  // namespace penstock::agent
