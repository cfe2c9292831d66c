// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diagnosis/device_use.h"

#include <algorithm>
#include <array>

namespace penstock::analyzer {
namespace {

constexpr std::array kDeviceLimits = {DeviceLimit::kKernels, DeviceLimit::kCopies,
                                      DeviceLimit::kLaunches, DeviceLimit::kIdle};

// What one device of a process did. `busy`: the times in which kernels or copies ran.
struct Lane {
  std::uint32_t process = 0;
  std::uint32_t device = 0;
  const DeviceLog* log = nullptr;
  IntervalSet busy;
};

DeviceUse UseOf(const Lane& lane, std::int64_t from, std::int64_t to) {
  const double window = static_cast<double>(to - from) * 1e-9;
  DeviceUse use;
  use.process = lane.process;
  use.device = lane.device;
  use.kernels = Length(lane.log->computing) / window;
  use.copies = Length(Difference(lane.log->transferring, lane.log->computing)) / window;
  use.beside = Length(Intersection(lane.log->transferring, lane.log->computing)) / window;
  std::int64_t short_gaps = 0;
  for (std::size_t i = 1; i < lane.busy.size(); ++i) {
    const std::int64_t gap = lane.busy[i].first - lane.busy[i - 1].second;
    if (gap <= kLaunchGap) short_gaps += gap;
  }
  use.launches = static_cast<double>(short_gaps) * 1e-9 / window;
  use.idle = std::max(0.0, 1 - use.kernels - use.copies - use.launches);
  return use;
}

}  // namespace

std::string_view DeviceLimitName(DeviceLimit limit) {
  switch (limit) {
    case DeviceLimit::kKernels:
      return "kernels";
    case DeviceLimit::kCopies:
      return "copies";
    case DeviceLimit::kLaunches:
      return "launches";
    case DeviceLimit::kIdle:
      break;
  }
  return "idle";
}

double DeviceUse::Of(DeviceLimit limit) const {
  switch (limit) {
    case DeviceLimit::kKernels:
      return kernels;
    case DeviceLimit::kCopies:
      return copies;
    case DeviceLimit::kLaunches:
      return launches;
    case DeviceLimit::kIdle:
      break;
  }
  return idle;
}

DeviceLimit DeviceUse::limit() const {
  return *std::max_element(kDeviceLimits.begin(), kDeviceLimits.end(),
                           [this](DeviceLimit a, DeviceLimit b) { return Of(a) < Of(b); });
}

double DevicesUse::GainWithout(DeviceLimit limit) const {
  constexpr double kMostGain = 1000;
  double left = 1 - mean.Of(limit);
  if (limit == DeviceLimit::kKernels) left += mean.beside;  // the copies beside kernels stay
  return left > 1 / kMostGain ? 1 / left : kMostGain;
}

DevicesUse MeasureDevicesUse(const std::vector<DeviceRecords>& records) {
  std::vector<Lane> lanes;
  std::int64_t from = kNever;
  std::int64_t to = kNever;
  for (std::uint32_t process = 0; process < records.size(); ++process) {
    for (const DeviceLog& log : records[process].devices) {
      Lane lane{process, log.device, &log, log.computing};
      lane.busy.insert(lane.busy.end(), log.transferring.begin(), log.transferring.end());
      Normalise(lane.busy);
      if (lane.busy.empty()) continue;
      from = from == kNever ? lane.busy.front().first : std::min(from, lane.busy.front().first);
      to = std::max(to, lane.busy.back().second);
      lanes.push_back(std::move(lane));
    }
  }
  DevicesUse use;
  if (lanes.empty() || to <= from) return use;
  use.window = static_cast<double>(to - from) * 1e-9;
  for (const Lane& lane : lanes) use.devices.push_back(UseOf(lane, from, to));
  const auto n = static_cast<double>(use.devices.size());
  for (const DeviceUse& device : use.devices) {
    for (double DeviceUse::*part : {&DeviceUse::kernels, &DeviceUse::copies, &DeviceUse::launches,
                                    &DeviceUse::idle, &DeviceUse::beside}) {
      use.mean.*part += device.*part / n;
    }
  }
  return use;
}

}  // namespace penstock::analyzer
