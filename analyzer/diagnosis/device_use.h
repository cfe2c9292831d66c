// SPDX-License-Identifier: Apache-2.0
//
// What holds the devices back in a recording without a loader: a trace of kernels and copies alone.
// Values; pure.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/model/device_records.h"

namespace penstock::analyzer {

// What a device could do without, the four of them add up to its time.
enum class DeviceLimit : std::uint8_t {
  kKernels,   // some kernel runs
  kCopies,    // a copy from or to the host runs, and no kernel
  kLaunches,  // neither, for less than kLaunchGap: the next one is on its way
  kIdle,      // neither, for longer: the host gives it nothing to do
};
// "kernels", ...
[[nodiscard]] std::string_view DeviceLimitName(DeviceLimit limit);

// Gaps up to this lie between launches; a loop that waits for data, or for a result, takes longer.
// Source: 5 to 20 us to launch a kernel from Python (docs/diagnosis.md R21), with room.
inline constexpr std::int64_t kLaunchGap = 100'000;  // ns

// Fractions of the time from the first kernel or copy of the recording to the last.
struct DeviceUse {
  std::uint32_t process = 0;  // of those that use devices, from 0
  std::uint32_t device = 0;
  double kernels = 0;
  double copies = 0;
  double launches = 0;
  double idle = 0;
  double beside = 0;  // copies that run beside kernels

  [[nodiscard]] double Of(DeviceLimit limit) const;
  // What takes most of its time.
  [[nodiscard]] DeviceLimit limit() const;
};

struct DevicesUse {
  double window = 0;  // seconds
  std::vector<DeviceUse> devices;
  DeviceUse mean;  // of the devices

  // How much faster the recorded work would be done if `limit` cost nothing: at most, for what runs
  // beside it may then be what holds it back.
  [[nodiscard]] double GainWithout(DeviceLimit limit) const;
};

// One element of `records` for each process that uses devices. Cost: linear in kernels and copies.
[[nodiscard]] DevicesUse MeasureDevicesUse(const std::vector<DeviceRecords>& records);

}  // namespace penstock::analyzer
