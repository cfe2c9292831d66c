// SPDX-License-Identifier: Apache-2.0
//
// What was recorded of the devices that a loader feeds: kernels, copies and the calls behind them,
// as traces/FORMAT.md ("Devices") has them. A trace without device streams, but with copies seen
// from the host, gives what that tells. Values; reading is pure.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/model/batch.h"
#include "analyzer/model/copy_kind.h"
#include "analyzer/model/stretches.h"
#include "traces/trace.h"

namespace penstock::analyzer {

struct LoaderRun;

// One host-to-device copy. Units: nanoseconds on the trace's clock; kNever: not recorded.
struct DeviceCopy {
  std::int64_t start = kNever;  // of the transfer, on the device
  std::int64_t end = kNever;
  std::int64_t call_start = kNever;  // of the call that asked for it
  std::int64_t call_end = kNever;
  std::uint64_t bytes = 0;
  std::uint32_t device = 0;
  std::int32_t batch = -1;  // in LoaderRun::batches
  CopyMemory memory = CopyMemory::kUnknown;
};

struct DeviceLog {
  std::uint32_t device = 0;
  std::uint64_t kernels = 0;
  Stretches computing;     // some kernel or memset runs
  Stretches transferring;  // some copy from or to the host runs
};

// What a device did for one batch.
struct BatchOnDevice {
  std::int64_t end = kNever;  // of its last kernel or copy
  double exposed = 0;         // seconds of its copies beside which no kernel ran
};

// All runs of one kernel. Units: seconds.
struct KernelTime {
  StringId name{};  // the trace's
  double time = 0;
  std::uint64_t count = 0;
};

struct DeviceRecords {
  std::vector<DeviceLog> devices;        // by device
  std::vector<DeviceCopy> copies;        // by start
  std::vector<BatchOnDevice> batches;    // of LoaderRun::batches; empty without kernels
  std::vector<KernelTime> kernel_times;  // of the whole recording, the most expensive first
  Stretches copy_calls;                  // the loop's thread is in a call that copies to the device
  Stretches syncs;                       // ... or in one that waits for the device
  bool on_device = false;  // copies are transfers on a stream; else calls seen from the host
  bool calls = false;      // calls were recorded with what they started

  [[nodiscard]] bool kernels() const { return !devices.empty() && kernel_count > 0; }
  std::uint64_t kernel_count = 0;
};

// Of the process that `run` feeds. A kernel or copy belongs to the batch that its span names (the
// loop's when it was asked for), else to the one that was delivered last when it began.
// Cost: one pass over the spans of that process; 16 bytes for each kernel.
[[nodiscard]] DeviceRecords ReadDeviceRecords(const traces::Trace& trace, const LoaderRun& run);

}  // namespace penstock::analyzer
