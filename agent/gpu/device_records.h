// SPDX-License-Identifier: Apache-2.0
//
// Pairs what a device did with the call that started it, in whatever order the two arrive, and
// writes both: the device's work on a lane of its stream, the call on the thread that made it, both
// with the batch that the loop was at when the call was made.
// Threads: the flush thread alone.
#pragma once

#include <stdint.h>

#include "agent/core/thread_state.h"

namespace penstock::agent {

enum class CallClass : uint8_t { kOther, kCopy, kLaunch, kSync };

// Times in ticks of the recording.
struct DeviceCall {
  uint64_t start;
  uint64_t end;
  uint32_t correlation;
  uint32_t tid;
  const char* text;  // name of the function; lives as long as the process
  CallClass what;
  bool runtime;  // of the runtime API: the driver's call inside it says the same again
};

struct DeviceWork {
  uint64_t start;
  uint64_t end;
  uint64_t bytes;
  uint32_t device;
  uint32_t stream;
  uint32_t correlation;
  uint32_t name;     // string id
  const char* text;  // of copies: "H2D pageable", lives as long as the process; else nullptr
  Stage stage;
};

// False: no memory.
bool PrepareDeviceRecords();
void AddCall(const DeviceCall& call);
void AddWork(const DeviceWork& work);
// A wait for the device as the driver saw it: tells of calls that are not known to wait.
void AddSync(uint32_t correlation, uint64_t start, uint64_t end);
// What has had no partner for two rounds goes without; `all`: everything, the last round.
void EndRound(bool all);

struct DeviceCounts {
  uint64_t works;
  uint64_t calls;
  uint64_t unpaired;  // works whose call was not seen
};
DeviceCounts CountDeviceRecords();

}  // namespace penstock::agent
