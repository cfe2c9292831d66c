// SPDX-License-Identifier: Apache-2.0
//
// What the devices did in a part of a run, and what the loop did meanwhile: two views of the same
// time, kept apart. A priority list over both (as other tools have it) hides the wait for data
// behind kernels that run beside it. Values; pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/model/device_records.h"
#include "analyzer/model/run_model.h"

namespace penstock::analyzer {

// Time without kernels, by the first of these that held. Units: seconds.
struct IdleCauses {
  double copy = 0;     // a copy from or to the host ran, or the loop's thread was in such a call
  double loader = 0;   // the loop waited for a batch
  double sync = 0;     // the loop waited for the device, which had nothing to do
  double launch = 0;   // the loop was in its step: launching, or in Python
  double unknown = 0;  // neither in a wait nor in a step
};

// What the loop's thread did. Units: seconds.
struct LoopShares {
  double wait = 0;  // for a batch
  double copy = 0;  // in calls that copy to the device: mostly waiting for earlier work of the
                    // device where the memory is pageable, so never the time of the transfer
  double sync = 0;  // in calls that wait for the device
  double rest = 0;  // launching, Python, the optimiser
};

// Bytes. Smaller copies go another way and say nothing about the link. Source: docs/diagnosis.md
// 3.10.
inline constexpr std::uint64_t kLargeCopy = 64 * 1024;

// Copies to the device from one kind of memory. Units: seconds. A copy counts where it starts.
struct CopyTotals {
  CopyMemory memory = CopyMemory::kUnknown;
  std::uint64_t count = 0;
  std::uint64_t called = 0;  // of them: the call is known
  std::uint64_t bytes = 0;
  double transfer = 0;     // on the device
  double overlapped = 0;   // of it: beside kernels
  double exposed = 0;      // of it: not
  double alone = 0;        // such a copy ran and no kernel of its device: mean over the devices, so
                           // never more than the window, as the sums above may be
  double blocked = 0;      // host, in the calls
  double waited = 0;       // from the call to the start of the transfer
  double behind = 0;       // of that: kernels ran
  double large_bytes = 0;  // of copies of kLargeCopy and more
  double large_time = 0;

  // Bytes a second; 0: no large copy.
  [[nodiscard]] double rate() const { return large_time > 0 ? large_bytes / large_time : 0; }
};

// Of one device. Units: seconds.
struct DeviceShare {
  std::uint32_t device = 0;
  std::uint64_t kernels = 0;  // of the whole recording
  double computing = 0;
  double copying = 0;
};

// Units: seconds; means over the devices of the process where there are several.
struct DeviceActivity {
  double window = 0;
  std::size_t batches = 0;           // delivered in it
  double computing = 0;              // some kernel runs
  double copying = 0;                // some copy from or to the host runs
  double hidden = 0;                 // of that, beside a kernel
  double exposed = 0;                // some copy to the device runs, and no kernel
  IdleCauses idle;                   // of window - computing
  LoopShares loop;                   // of the window, too
  bool kernels = false;              // else only copies are known, and nothing of the idle time
  bool on_device = false;            // DeviceRecords
  bool calls = false;                // DeviceRecords
  std::vector<CopyTotals> copies;    // by memory; kinds that occurred
  std::vector<DeviceShare> devices;  // by device
  std::vector<DeviceCopy> slowest;   // at most 8, those that stood most in the way first

  // Fraction of the window.
  [[nodiscard]] double Share(double part) const { return window > 0 ? part / window : 0; }
};

// Of the parts `windows` of the recording (SteadyState::windows). Requires: `records` is of `run`.
// Cost: linear in kernels, copies and batches.
[[nodiscard]] DeviceActivity MeasureDevice(const DeviceRecords& records, const LoaderRun& run,
                                           Stretches windows);

}  // namespace penstock::analyzer
