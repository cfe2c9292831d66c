// SPDX-License-Identifier: Apache-2.0
//
// What devices do, and what limits them, in a recording without a loader: a trace of kernels and
// copies alone. Values; pure.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/model/device_records.h"

namespace penstock::analyzer {

// What can limit a device. The times of the four add up to DevicesUse::window.
enum class DeviceLimit : std::uint8_t {
  kKernels,   // a kernel runs, or a memset, or a copy on or between devices
  kCopies,    // a copy from or to the host runs, and none of kKernels
  kLaunches,  // nothing runs for at most kLaunchGap: the next kernel is being launched
  kIdle,      // nothing runs for longer: the host gives the device nothing to do
};
// The name of `limit` in reports: "kernels", "copies", "launches" or "idle".
[[nodiscard]] std::string_view DeviceLimitName(DeviceLimit limit);

// Gaps up to this length count as the time of a launch. A loop that waits for data, or for a
// result, leaves longer gaps. Launching a kernel from Python takes 5 to 20 us; the limit (ours)
// leaves room for slower launches.
inline constexpr std::int64_t kLaunchGap = 100'000;  // ns

// Fractions of DevicesUse::window.
struct DeviceUse {
  std::uint32_t process = 0;  // index into the records that were measured
  std::uint32_t device = 0;
  double kernels = 0;
  double copies = 0;
  double launches = 0;
  double idle = 0;
  double beside = 0;  // part of `kernels` in which a copy from or to the host runs too

  // The fraction of `limit`.
  [[nodiscard]] double Of(DeviceLimit limit) const;
  // The limit with the largest fraction.
  [[nodiscard]] DeviceLimit limit() const;
};

struct DevicesUse {
  double window = 0;  // seconds from the first kernel or copy to the last, on all devices
  std::vector<DeviceUse> devices;
  DeviceUse mean;  // the mean of each fraction over all devices

  // The speed-up if `limit` cost nothing. This is an upper bound, because something else may then
  // hold the device back.
  [[nodiscard]] double GainWithout(DeviceLimit limit) const;
};

// Requires: one element of `records` for each process that uses devices.
// Cost: linear in kernels and copies.
[[nodiscard]] DevicesUse MeasureDevicesUse(const std::vector<DeviceRecords>& records);

}  // namespace penstock::analyzer
