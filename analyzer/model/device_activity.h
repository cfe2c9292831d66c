// SPDX-License-Identifier: Apache-2.0
//
// What the devices did in a part of a run, and what the loop did at the same time: two separate
// views. Other tools assign each moment to one entry of a common list of priorities. Such a list
// hides a wait for data during which kernels run. Values; pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/model/device_records.h"
#include "analyzer/model/run_model.h"

namespace penstock::analyzer {

// Time without kernels, by the first of these causes that applies. Units: seconds.
struct IdleCauses {
  double copy = 0;     // a copy from or to the host ran. After `loader` is checked, also: the loop
                       // was in a call that copies to the device
  double loader = 0;   // the loop waited for a batch
  double sync = 0;     // the loop waited for the device, but the device had nothing to do
  double launch = 0;   // the loop was in its step: launching, or in Python. 0 if no calls were
                       // recorded (DeviceRecords::called)
  double unknown = 0;  // anything else
};

// What the loop's thread spent its time on. Units: seconds.
struct LoopShares {
  double wait = 0;  // waiting for a batch
  double copy = 0;  // in calls that copy to the device. For pageable memory this is mostly waiting
                    // for earlier work of the device, not the time of the transfer
  double sync = 0;  // in calls that wait for the device
  double rest = 0;  // launching, Python, the optimiser
};

// The smallest size of a large copy, in bytes. The driver moves smaller copies in another way, so
// their rate says nothing about the link.
// Source: docs/diagnosis.md 3.10.
inline constexpr std::uint64_t kLargeCopy = 64 * 1024;

// Copies to the device from one kind of memory. Units: seconds. A copy belongs to the window in
// which it starts.
struct CopyTotals {
  CopyMemory memory = CopyMemory::kUnknown;
  std::uint64_t count = 0;
  std::uint64_t called = 0;  // copies whose call is known
  std::uint64_t bytes = 0;
  double transfer = 0;     // on the device
  double overlapped = 0;   // part of `transfer` beside kernels
  double exposed = 0;      // part of `transfer` without kernels beside it
  double alone = 0;        // a copy ran, and no kernel on its device; this is a mean over the
                           // devices, so it cannot exceed the window, unlike the sums above
  double blocked = 0;      // the host was in the calls
  double waited = 0;       // from the call to the start of the transfer
  double behind = 0;       // part of `waited` in which kernels ran
  double large_bytes = 0;  // bytes in copies of at least kLargeCopy
  double large_time = 0;

  // Bytes per second; 0: there was no large copy.
  [[nodiscard]] double rate() const { return large_time > 0 ? large_bytes / large_time : 0; }
};

// The time of one device. Units: seconds.
struct DeviceShare {
  std::uint32_t device = 0;
  std::uint64_t kernels = 0;  // in the whole recording
  double computing = 0;
  double copying = 0;
};

// Units: seconds. If the process uses several devices, times are means over them.
struct DeviceActivity {
  double window = 0;
  std::size_t batches = 0;           // delivered in the window
  double computing = 0;              // some kernel runs
  double copying = 0;                // some copy from or to the host runs
  double hidden = 0;                 // part of `copying` beside a kernel
  double exposed = 0;                // some copy to the device runs, and no kernel
  IdleCauses idle;                   // parts of window - computing
  LoopShares loop;                   // parts of the window
  bool kernels = false;              // kernels were recorded; else only copies, and no idle time
  bool on_device = false;            // as in DeviceRecords
  bool calls = false;                // as in DeviceRecords
  bool called = false;               // as in DeviceRecords
  std::vector<CopyTotals> copies;    // by kind of memory, those that occurred
  std::vector<DeviceShare> devices;  // by device
  std::vector<DeviceCopy> slowest;   // at most 8 copies; those with the most time without kernels
                                     // beside them come first

  // `part` as a fraction of the window.
  [[nodiscard]] double Share(double part) const { return window > 0 ? part / window : 0; }
};

// Measures the activity in `windows` of the recording (SteadyState::windows).
// Requires: `records` are those of `run`.
// Cost: linear in kernels, copies and batches.
[[nodiscard]] DeviceActivity MeasureDevice(const DeviceRecords& records, const LoaderRun& run,
                                           IntervalSet windows);

}  // namespace penstock::analyzer
