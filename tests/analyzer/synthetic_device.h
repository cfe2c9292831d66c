// SPDX-License-Identifier: Apache-2.0
//
// What a device does in the steps of a synthetic loader, as the agent records it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "traces/trace.h"

namespace penstock::analyzer::testing {

// Units: milliseconds of each step, which begins with the call that copies.
struct OnDevice {
  double wait = 0;         // from the call to the transfer
  double copy = 1;         // the transfer; 0: none
  double kernels = 3;      // in all, after the transfer
  double beside = 0;       // the first part of the transfer, during which earlier kernels run
  int pieces = 1;          // number of kernels
  double gap = 0;          // between two kernels
  double sync = 0;         // at the end of the step the loop waits for the device
  bool pageable = true;    // the call lasts until the transfer is done; else it returns at once
  bool correlated = true;  // calls were recorded with their numbers
  bool launches = true;    // a step without a copy ends with a call that launches
  bool keyed = true;       // device spans name their batch
  std::uint64_t bytes = 10'000'000;
  std::string kernel = "ampere_sgemm_128x64";
};

// Adds a stream of device 0 to the process of thread 0, and calls to thread 0.
void AddDevice(traces::TraceData& data, const OnDevice& device);

// Adds device `device`, which does the same work at the same times as the device added last.
// Requires: AddDevice().
void RepeatDevice(traces::TraceData& data, std::uint32_t device);

// Returns AddDevice() as a change of a synthetic run.
[[nodiscard]] std::function<void(traces::TraceData&)> Device(const OnDevice& device);

}  // namespace penstock::analyzer::testing
