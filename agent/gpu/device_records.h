// SPDX-License-Identifier: Apache-2.0
//
// Pairs what a device did with the call that started it, in whatever order the two arrive, and
// writes both: the device's work on a lane for its stream, the call on a lane for the thread that
// made it. Both get the batch that the training loop worked at when the call was made.
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
  bool runtime;  // of the runtime API; a driver call inside it has the same correlation
};

struct DeviceWork {
  uint64_t start;
  uint64_t end;
  uint64_t bytes;
  uint32_t device;
  uint32_t stream;
  uint32_t correlation;
  uint32_t name;     // string id
  const char* text;  // for copies: "H2D pageable", lives as long as the process
  Stage stage;
};

// False if there is no memory.
bool PrepareDeviceRecords();
void AddCall(const DeviceCall& call);
void AddWork(const DeviceWork& work);
// Adds a wait for the device as the driver saw it. It gets a span of its own if its call is
// recorded, unless the span of that call is a wait already (CallClass::kSync).
void AddSync(uint32_t correlation, uint64_t start, uint64_t end);
// Ends a round: calls and work that have had no partner for two rounds are written without one,
// waits are dropped. `all`: the last round, in which everything is written.
void EndRound(bool all);

struct DeviceCounts {
  uint64_t works;
  uint64_t calls;
  uint64_t unpaired;  // work whose call was not seen
};
DeviceCounts CountDeviceRecords();

}  // namespace penstock::agent
