// SPDX-License-Identifier: Apache-2.0
//
// What NVML reported about each GPU over the run. Its counters are for the whole device, with all
// programs that use it. Values; pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/run_model.h"
#include "traces/trace.h"

namespace penstock::analyzer {

// Means and fractions are over time.
struct GpuCounters {
  std::uint32_t index = 0;  // NVML's number
  std::string model;
  std::string used;  // whether the run used it, from a fact: "process", "open" or "no"; "": not
                     // known
  // Fraction of the driver's windows in which any program's kernel ran. 1 does not mean that the
  // device was full.
  std::optional<double> utilization;
  std::optional<double> memory_used;  // bytes, greatest value
  std::optional<double> memory;       // bytes it has
  std::optional<double> power;        // watts, mean
  std::optional<double> power_limit;  // watts
  std::optional<double> temperature;  // degrees Celsius, greatest value
  std::optional<double> sm_clock;     // MHz, mean
  std::optional<double> memory_clock;
  std::optional<double> received;  // bytes per second from the host, greatest value over 20 ms
  std::optional<double> sent;
  double link = 0;          // bytes per second of its PCIe link as it is set up; 0: not known
  double power_capped = 0;  // fraction of the time in which power held the clocks down
  double too_hot = 0;       // the same for heat
  double slowed = 0;        // the same for limits of the hardware: power brake, slowdown
  std::uint64_t samples = 0;
};

// The GPUs in the trace, by index.
[[nodiscard]] std::vector<GpuCounters> ReadGpuCounters(const traces::Trace& trace,
                                                       const RunModel& model);

// Bytes per second of a PCIe link of this generation with `width` lanes, computed; 0 if the
// generation is not known.
[[nodiscard]] double LinkRate(unsigned generation, unsigned width);

// The link of the device that the run used; 0: not known.
[[nodiscard]] double UsedLink(const std::vector<GpuCounters>& gpus);

}  // namespace penstock::analyzer
