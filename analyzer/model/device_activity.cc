// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/device_activity.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace penstock::analyzer {
namespace {

constexpr std::size_t kSlowest = 8;

// The waits and steps of the loop, from the times of its batches.
struct LoopTimes {
  IntervalSet waits;
  IntervalSet steps;
};

LoopTimes TimesOf(const LoaderRun& run) {
  LoopTimes times;
  for (const Batch& batch : run.batches) {
    if (!batch.was_delivered()) continue;
    times.waits.emplace_back(batch.wait_start, batch.delivered);
    if (batch.step_end != kNever) times.steps.emplace_back(batch.delivered, batch.step_end);
  }
  Normalise(times.waits);
  Normalise(times.steps);
  return times;
}

// Removes the moments of `set` from `left`. Returns the removed seconds.
double Take(IntervalSet& left, const IntervalSet& set) {
  const double before = Length(left);
  left = Difference(left, set);
  return before - Length(left);
}

LoopShares LoopOf(const DeviceRecords& records, const LoopTimes& times,
                  const IntervalSet& windows) {
  LoopShares loop;
  IntervalSet left = windows;
  loop.wait = Take(left, times.waits);
  loop.copy = Take(left, records.copy_calls);
  loop.sync = Take(left, records.syncs);
  loop.rest = Take(left, times.steps);
  return loop;
}

void AddIdle(const DeviceRecords& records, const DeviceLog& log, const LoopTimes& times,
             const IntervalSet& windows, IdleCauses& idle) {
  IntervalSet left = Difference(windows, log.computing);
  idle.copy += Take(left, log.transferring);
  idle.loader += Take(left, times.waits);
  idle.copy += Take(left, records.copy_calls);
  idle.sync += Take(left, records.syncs);
  if (records.called) idle.launch += Take(left, times.steps);
  idle.unknown += Length(left);
}

void AddCopy(const DeviceCopy& copy, double exposed, const IntervalSums& computing,
             CopyTotals& totals) {
  const double transfer = Seconds(TimeNs{copy.end - copy.start});
  ++totals.count;
  totals.bytes += copy.bytes;
  totals.transfer += transfer;
  totals.exposed += exposed;
  totals.overlapped += transfer - exposed;
  if (copy.bytes >= kLargeCopy) {
    totals.large_bytes += static_cast<double>(copy.bytes);
    totals.large_time += transfer;
  }
  if (copy.call_start == kNever) return;
  ++totals.called;
  totals.blocked += Seconds(TimeNs{copy.call_end - copy.call_start});
  const std::int64_t waited = std::max<std::int64_t>(0, copy.start - copy.call_start);
  totals.waited += Seconds(TimeNs{waited});
  totals.behind += Seconds(TimeNs{computing.Within(copy.call_start, copy.start)});
}

// The copies to one device.
struct CopiesTo {
  const IntervalSet* computing = nullptr;  // DeviceLog::computing; nullptr: the device has no log
  IntervalSums sums;                       // of `computing`
  std::array<IntervalSet, 4> copies;       // by memory
};

// Sets CopyTotals::alone and DeviceActivity::exposed. Copies of several streams can run at the same
// time. So the time that the copies to one device cover together counts once. `computing`: the
// number of devices with kernels.
void MeasureAlone(const std::map<std::uint32_t, CopiesTo>& devices, std::size_t computing,
                  const IntervalSet& windows, std::array<CopyTotals, 4>& totals,
                  DeviceActivity& activity) {
  // Copies seen from the host name no device, so `devices` may lack devices that compute. The mean
  // is over all of them.
  const auto count = static_cast<double>(std::max(computing, devices.size()));
  const auto alone = [&](IntervalSet copies, const CopiesTo& device) {
    Normalise(copies);
    copies = Intersection(copies, windows);
    const IntervalSet* busy = device.computing;
    return Length(busy != nullptr ? Difference(copies, *busy) : copies) / count;
  };
  for (const auto& [id, device] : devices) {
    IntervalSet all;
    for (std::size_t i = 0; i < totals.size(); ++i) {
      totals[i].alone += alone(device.copies[i], device);
      all.insert(all.end(), device.copies[i].begin(), device.copies[i].end());
    }
    activity.exposed += alone(std::move(all), device);
  }
}

void AddCopies(const DeviceRecords& records, const IntervalSet& windows, DeviceActivity& activity) {
  std::array<CopyTotals, 4> totals;
  for (std::size_t i = 0; i < totals.size(); ++i) totals[i].memory = static_cast<CopyMemory>(i);
  std::vector<std::pair<double, const DeviceCopy*>> all;
  std::map<std::uint32_t, CopiesTo> devices;
  for (const DeviceCopy& copy : records.copies) devices[copy.device];
  std::size_t computing = 0;
  for (const DeviceLog& log : records.devices) {
    if (log.kernels > 0) ++computing;
    const auto device = devices.find(log.device);
    if (device == devices.end()) continue;
    device->second.computing = &log.computing;
    device->second.sums = IntervalSums(log.computing);
  }
  for (const DeviceCopy& copy : records.copies) {
    CopiesTo& device = devices[copy.device];
    const auto memory = static_cast<std::size_t>(copy.memory);
    device.copies[memory].emplace_back(copy.start, copy.end);
    if (Within(windows, copy.start, copy.start + 1) == 0) continue;
    const std::int64_t beside = device.sums.Within(copy.start, copy.end);
    const double exposed = Seconds(TimeNs{copy.end - copy.start - beside});
    AddCopy(copy, exposed, device.sums, totals[memory]);
    all.emplace_back(exposed, &copy);
  }
  MeasureAlone(devices, computing, windows, totals, activity);
  for (const CopyTotals& one : totals) {
    if (one.count > 0) activity.copies.push_back(one);
  }
  const std::size_t shown = std::min(kSlowest, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(shown), all.end(),
                    [](const auto& a, const auto& b) {
                      return a.first != b.first ? a.first > b.first
                                                : a.second->start < b.second->start;
                    });
  for (std::size_t i = 0; i < shown; ++i) activity.slowest.push_back(*all[i].second);
}

}  // namespace

DeviceActivity MeasureDevice(const DeviceRecords& records, const LoaderRun& run,
                             IntervalSet windows) {
  DeviceActivity activity;
  Normalise(windows);
  activity.window = Length(windows);
  activity.kernels = records.kernels();
  activity.on_device = records.on_device;
  activity.calls = records.calls;
  activity.called = records.called;
  if (activity.window <= 0) return activity;
  for (const Batch& batch : run.batches) {
    if (batch.was_delivered() && Within(windows, batch.delivered, batch.delivered + 1) > 0) {
      ++activity.batches;
    }
  }
  const LoopTimes times = TimesOf(run);
  activity.loop = LoopOf(records, times, windows);
  AddCopies(records, windows, activity);
  double devices = 0;
  for (const DeviceLog& log : records.devices) {
    if (log.kernels == 0) continue;
    devices += 1;
    const IntervalSet computing = Intersection(windows, log.computing);
    const IntervalSet copying = Intersection(windows, log.transferring);
    DeviceShare share;
    share.device = log.device;
    share.kernels = log.kernels;
    share.computing = Length(computing);
    share.copying = Length(copying);
    activity.devices.push_back(share);
    activity.computing += share.computing;
    activity.copying += share.copying;
    activity.hidden += Length(Intersection(copying, computing));
    AddIdle(records, log, times, windows, activity.idle);
  }
  if (devices > 1) {
    for (double* sum : {&activity.computing, &activity.copying, &activity.hidden,
                        &activity.idle.copy, &activity.idle.loader, &activity.idle.sync,
                        &activity.idle.launch, &activity.idle.unknown}) {
      *sum /= devices;
    }
  }
  return activity;
}

}  // namespace penstock::analyzer
