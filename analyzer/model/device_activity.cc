// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/device_activity.h"

#include <algorithm>
#include <array>

namespace penstock::analyzer {
namespace {

constexpr std::uint64_t kLargeCopy = 64 * 1024;  // gpu.md section 4: smaller ones go another way
constexpr std::size_t kSlowest = 8;

double SecondsOf(std::int64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

// The loop's own times, from the batches.
struct LoopTimes {
  Stretches waits;
  Stretches steps;
};

LoopTimes TimesOf(const LoaderRun& run) {
  LoopTimes times;
  for (const Batch& batch : run.batches) {
    if (!batch.was_delivered()) continue;
    times.waits.emplace_back(batch.wait_start, batch.delivered);
    if (batch.step_end != kNever) times.steps.emplace_back(batch.delivered, batch.step_end);
  }
  Unite(times.waits);
  Unite(times.steps);
  return times;
}

// Takes from `left` what is in `set`. Returns how much that was, in seconds.
double Take(Stretches& left, const Stretches& set) {
  const double before = Length(left);
  left = Minus(left, set);
  return before - Length(left);
}

LoopShares LoopOf(const DeviceRecords& records, const LoopTimes& times, const Stretches& windows) {
  LoopShares loop;
  Stretches left = windows;
  loop.wait = Take(left, times.waits);
  loop.copy = Take(left, records.copy_calls);
  loop.sync = Take(left, records.syncs);
  loop.rest = Take(left, times.steps);
  return loop;
}

void AddIdle(const DeviceRecords& records, const DeviceLog& log, const LoopTimes& times,
             const Stretches& windows, IdleCauses& idle) {
  Stretches left = Minus(windows, log.computing);
  idle.copy += Take(left, log.transferring);
  idle.loader += Take(left, times.waits);
  idle.copy += Take(left, records.copy_calls);
  idle.sync += Take(left, records.syncs);
  idle.launch += Take(left, times.steps);
  idle.unknown += Length(left);
}

const DeviceLog* LogOf(const DeviceRecords& records, std::uint32_t device) {
  for (const DeviceLog& log : records.devices) {
    if (log.device == device) return &log;
  }
  return nullptr;
}

double ExposedOf(const DeviceCopy& copy, const DeviceLog* log) {
  const std::int64_t beside = log != nullptr ? Within(log->computing, copy.start, copy.end) : 0;
  return SecondsOf(copy.end - copy.start - beside);
}

void AddCopy(const DeviceCopy& copy, const DeviceLog* log, CopyTotals& totals) {
  const double transfer = SecondsOf(copy.end - copy.start);
  const double exposed = ExposedOf(copy, log);
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
  totals.blocked += SecondsOf(copy.call_end - copy.call_start);
  const std::int64_t waited = std::max<std::int64_t>(0, copy.start - copy.call_start);
  totals.waited += SecondsOf(waited);
  if (log != nullptr && waited > 0) {
    totals.behind += SecondsOf(Within(log->computing, copy.call_start, copy.start));
  }
}

void AddCopies(const DeviceRecords& records, const Stretches& windows, DeviceActivity& activity) {
  std::array<CopyTotals, 4> totals;
  for (std::size_t i = 0; i < totals.size(); ++i) totals[i].memory = static_cast<CopyMemory>(i);
  std::vector<std::pair<double, const DeviceCopy*>> all;
  for (const DeviceCopy& copy : records.copies) {
    if (Within(windows, copy.start, copy.start + 1) == 0) continue;
    const DeviceLog* log = LogOf(records, copy.device);
    AddCopy(copy, log, totals[static_cast<std::size_t>(copy.memory)]);
    all.emplace_back(ExposedOf(copy, log), &copy);
  }
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

double DeviceActivity::exposed() const {
  double sum = 0;
  for (const CopyTotals& one : copies) sum += one.exposed;
  return sum;
}

DeviceActivity MeasureDevice(const DeviceRecords& records, const LoaderRun& run,
                             Stretches windows) {
  DeviceActivity activity;
  Unite(windows);
  activity.window = Length(windows);
  activity.kernels = records.kernels();
  activity.on_device = records.on_device;
  activity.calls = records.calls;
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
    const Stretches computing = Common(windows, log.computing);
    const Stretches copying = Common(windows, log.transferring);
    DeviceShare share;
    share.device = log.device;
    share.kernels = log.kernels;
    share.computing = Length(computing);
    share.copying = Length(copying);
    activity.devices.push_back(share);
    activity.computing += share.computing;
    activity.copying += share.copying;
    activity.hidden += Length(Common(copying, computing));
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
