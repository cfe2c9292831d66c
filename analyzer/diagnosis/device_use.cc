// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diagnosis/device_use.h"

#include <algorithm>
#include <array>

namespace penstock::analyzer {
namespace {

constexpr std::array kDeviceLimits = {DeviceLimit::kKernels, DeviceLimit::kCopies,
                                      DeviceLimit::kLaunches, DeviceLimit::kIdle};

// What one device did for one process. `busy`: the times in which kernels or copies ran.
struct UsedDevice {
  std::uint32_t process = 0;
  std::uint32_t device = 0;
  const DeviceLog* log = nullptr;
  IntervalSet busy;
};

DeviceUse UseOf(const UsedDevice& used, std::int64_t from, std::int64_t to) {
  const double window = static_cast<double>(to - from) * 1e-9;
  DeviceUse use;
  use.process = used.process;
  use.device = used.device;
  use.kernels = Length(used.log->computing) / window;
  use.copies = Length(Difference(used.log->transferring, used.log->computing)) / window;
  use.beside = Length(Intersection(used.log->transferring, used.log->computing)) / window;
  std::int64_t short_gaps = 0;
  for (std::size_t i = 1; i < used.busy.size(); ++i) {
    const std::int64_t gap = used.busy[i].first - used.busy[i - 1].second;
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
  if (limit == DeviceLimit::kKernels) left += mean.beside;  // copies beside kernels take time
  return left > 1 / kMostGain ? 1 / left : kMostGain;
}

DevicesUse MeasureDevicesUse(const std::vector<DeviceRecords>& records) {
  std::vector<UsedDevice> all;
  std::int64_t from = kNever;
  std::int64_t to = kNever;
  for (std::uint32_t process = 0; process < records.size(); ++process) {
    for (const DeviceLog& log : records[process].devices) {
      UsedDevice used{process, log.device, &log, log.computing};
      used.busy.insert(used.busy.end(), log.transferring.begin(), log.transferring.end());
      Normalise(used.busy);
      if (used.busy.empty()) continue;
      from = from == kNever ? used.busy.front().first : std::min(from, used.busy.front().first);
      to = std::max(to, used.busy.back().second);
      all.push_back(std::move(used));
    }
  }
  DevicesUse use;
  if (all.empty() || to <= from) return use;
  use.window = static_cast<double>(to - from) * 1e-9;
  for (const UsedDevice& used : all) use.devices.push_back(UseOf(used, from, to));
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
