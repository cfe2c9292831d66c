// SPDX-License-Identifier: Apache-2.0
//
// What NVML said of each GPU, over the run. Its counters are the whole device's, whoever used it.
// Values; pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/run_model.h"
#include "traces/trace.h"

namespace penstock::analyzer {

struct GpuCounters {
  std::uint32_t index = 0;  // as NVML counts
  std::string model;
  std::string used;  // the fact: "process", "open", "no"; "" not known
  // Percent of the driver's windows in which some kernel of any program ran: 100 does not mean
  // that the device was full. Fraction.
  std::optional<double> utilization;
  std::optional<double> memory_used;  // bytes, most seen
  std::optional<double> memory;       // bytes it has
  std::optional<double> power;        // watts, mean
  std::optional<double> power_limit;  // watts
  std::optional<double> temperature;  // degrees Celsius, most seen
  std::optional<double> sm_clock;     // MHz, mean
  std::optional<double> memory_clock;
  std::optional<double> received;  // bytes a second from the host, most seen in 20 ms
  std::optional<double> sent;
  double link = 0;          // bytes a second of its PCIe link as seen; 0: not known
  double power_capped = 0;  // fraction of the samples with clocks held down by power
  double too_hot = 0;       // by heat
  double slowed = 0;        // by the hardware: power brake, slowdown
  std::uint64_t samples = 0;
};

// Those that the trace knows of, by index.
[[nodiscard]] std::vector<GpuCounters> ReadGpuCounters(const traces::Trace& trace,
                                                       const RunModel& model);

// Bytes a second of a PCIe link, by arithmetic; 0 for a generation not known.
[[nodiscard]] double LinkRate(unsigned generation, unsigned width);

// The link of the device that the run used; 0: not known.
[[nodiscard]] double UsedLink(const std::vector<GpuCounters>& gpus);

}  // namespace penstock::analyzer
