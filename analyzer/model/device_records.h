// SPDX-License-Identifier: Apache-2.0
//
// The records of the devices that a loader feeds: kernels, copies and the calls that requested them
// (traces/FORMAT.md, "Devices"). If a trace has no transfers on device streams, the calls that the
// host saw stand for the copies. Values; reading is pure.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/model/batch.h"
#include "analyzer/model/copy_kind.h"
#include "analyzer/model/interval_set.h"
#include "traces/trace.h"

namespace penstock::analyzer {

struct LoaderRun;

// One copy from host to device. Units: nanoseconds on the trace's clock; kNever: not recorded.
struct DeviceCopy {
  std::int64_t start = kNever;  // of the transfer; of the call if not DeviceRecords::on_device
  std::int64_t end = kNever;
  std::int64_t call_start = kNever;  // of the call that requested it
  std::int64_t call_end = kNever;
  std::uint64_t bytes = 0;
  std::uint32_t device = 0;
  std::int32_t batch = -1;  // index into LoaderRun::batches; -1: none
  CopyMemory memory = CopyMemory::kUnknown;
};

struct DeviceLog {
  std::uint32_t device = 0;
  std::uint64_t kernels = 0;
  IntervalSet computing;     // a kernel, a memset, or a copy on or between devices runs
  IntervalSet transferring;  // a copy from or to the host runs
};

// What a device did for one batch.
struct BatchOnDevice {
  std::int64_t end = kNever;  // of its last kernel or copy
  double exposed = 0;         // seconds in which copies to the device ran outside of
                              // DeviceLog::computing
};

// All runs of the kernels of one name. Units: seconds.
struct KernelTime {
  StringId name{};  // in the trace
  double time = 0;
  std::uint64_t count = 0;
};

struct DeviceRecords {
  std::vector<DeviceLog> devices;        // by device
  std::vector<DeviceCopy> copies;        // by start
  std::vector<BatchOnDevice> batches;    // one for each LoaderRun::batches; empty without kernels
  std::vector<KernelTime> kernel_times;  // over the whole recording, the most expensive first
  IntervalSet copy_calls;                // the loop's thread is in a call that copies to the device
  IntervalSet syncs;                     // the loop's thread is in a call that waits for the device
  bool on_device = false;  // copies are transfers on a stream; else calls seen from the host
  bool calls = false;      // some copy on a stream was matched with the call that requested it
  // Calls of the driver, or waits for the device, were recorded in the process. If not, nobody
  // knows what the loop did in its steps.
  bool called = false;

  [[nodiscard]] bool kernels() const { return !devices.empty() && kernel_count > 0; }
  std::uint64_t kernel_count = 0;
};

// Reads the records of the process that `run` feeds. A kernel or copy belongs to the batch that its
// span names: the batch that the loop had when it requested the work. If the span names no batch of
// `run`, the work belongs to the last batch that was delivered before it began.
// Cost: one pass over the spans of that process; 16 bytes for each kernel.
[[nodiscard]] DeviceRecords ReadDeviceRecords(const traces::Trace& trace, const LoaderRun& run);

}  // namespace penstock::analyzer
