// SPDX-License-Identifier: Apache-2.0
//
// The limit of the devices in a recording without a loader: a trace of kernels and copies alone.
// Values; pure.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/model/device_records.h"

namespace penstock::analyzer {

// What can limit a device. The times of the four add up to the whole recording.
enum class DeviceLimit : std::uint8_t {
  kKernels,   // some kernel runs
  kCopies,    // a copy from or to the host runs, and no kernel
  kLaunches,  // nothing runs for at most kLaunchGap: the next kernel is being launched
  kIdle,      // nothing runs for longer: the host gives the device nothing to do
};
// "kernels", ...
[[nodiscard]] std::string_view DeviceLimitName(DeviceLimit limit);

// Gaps up to this length are taken for the time of a launch. A loop that waits for data, or for a
// result, leaves longer gaps. Source: launching a kernel from Python takes 5 to 20 us
// (docs/diagnosis.md R21); the limit leaves room.
inline constexpr std::int64_t kLaunchGap = 100'000;  // ns

// Fractions of the time from the first kernel or copy of the recording to the last.
struct DeviceUse {
  std::uint32_t process = 0;  // number among the processes that use devices, from 0
  std::uint32_t device = 0;
  double kernels = 0;
  double copies = 0;
  double launches = 0;
  double idle = 0;
  double beside = 0;  // share of the time in which a copy runs beside a kernel

  [[nodiscard]] double Of(DeviceLimit limit) const;
  // The limit with the largest share of the device's time.
  [[nodiscard]] DeviceLimit limit() const;
};

struct DevicesUse {
  double window = 0;  // seconds
  std::vector<DeviceUse> devices;
  DeviceUse mean;  // over all devices

  // An upper bound of the speed-up if `limit` cost nothing, because something else may then be the
  // limit.
  [[nodiscard]] double GainWithout(DeviceLimit limit) const;
};

// Requires: one element of `records` for each process that uses devices.
// Cost: linear in kernels and copies.
[[nodiscard]] DevicesUse MeasureDevicesUse(const std::vector<DeviceRecords>& records);

}  // namespace penstock::analyzer
