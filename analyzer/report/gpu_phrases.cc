// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/gpu_phrases.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "analyzer/words/format.h"
#include "analyzer/words/gpu.h"

namespace penstock::analyzer {
namespace {

std::optional<Statement> MemoryNameOf(CopyMemory memory) {
  switch (memory) {
    case CopyMemory::kPageable:
      return Say<words::kPageable>();
    case CopyMemory::kPinned:
      return Say<words::kPinned>();
    case CopyMemory::kManaged:
      return Say<words::kManaged>();
    case CopyMemory::kUnknown:
      break;
  }
  return std::nullopt;
}

std::optional<Statement> UseByRun(const GpuCounters& gpu) {
  if (gpu.used == "process") return Say<words::kUsedByRun>();
  if (gpu.used == "open") return Say<words::kOpenInRun>();
  if (gpu.used == "no") return Say<words::kUnusedByRun>();
  return std::nullopt;
}

}  // namespace

std::vector<StepPart> LoopView(const DeviceActivity& activity) {
  const double each = 1 / static_cast<double>(std::max<std::size_t>(1, activity.batches));
  const LoopShares& loop = activity.loop;
  const double known = loop.wait + loop.copy + loop.sync + loop.rest;
  return {{Say<words::kLoopWaits>(), "s-wait", loop.wait * each},
          {Say<words::kLoopCopies>(), "s-h2d", loop.copy * each},
          {Say<words::kLoopSyncs>(), "s-sync", loop.sync * each},
          {Say<words::kLoopLaunches>(), "s-step", loop.rest * each},
          {Say<words::kPartUnknown>(), "s-idle", std::max(0.0, activity.window - known) * each}};
}

std::vector<StepPart> DeviceView(const DeviceActivity& activity) {
  const double each = 1 / static_cast<double>(std::max<std::size_t>(1, activity.batches));
  const IdleCauses& idle = activity.idle;
  return {{Say<words::kKernels>(), "s-kernel", activity.computing * each},
          {Say<words::kIdleOfCopy>(), "s-h2d", idle.copy * each},
          {Say<words::kIdleOfData>(), "s-wait", idle.loader * each},
          {Say<words::kIdleOfSync>(), "s-sync", idle.sync * each},
          {Say<words::kIdleOfLaunch>(), "s-step", idle.launch * each},
          {Say<words::kIdleUnknown>(), "s-idle", idle.unknown * each}};
}

Statement CopiesOf(const CopyTotals& copies, const DeviceActivity& activity, double link) {
  const auto count = static_cast<double>(std::max<std::uint64_t>(1, copies.count));
  const auto called = static_cast<double>(std::max<std::uint64_t>(1, copies.called));
  const bool device = activity.on_device;
  const bool rated = device && copies.rate() > 0;
  const bool kernels = device && activity.kernels;
  const bool calls = copies.called > 0;
  return Say<words::kCopiesOfKind>(
      Give<"count">(copies.count), Give<"memory">(MemoryNameOf(copies.memory)),
      Give<"each">(static_cast<double>(copies.bytes) / count),
      GiveIf<"transfer">(device, copies.transfer / count), GiveIf<"rate">(rated, copies.rate()),
      GiveIf<"of_link">(rated && link > 0, link > 0 ? copies.rate() / link : 0),
      GiveIf<"overlapped">(kernels, copies.overlapped / count),
      GiveIf<"exposed">(kernels, copies.exposed / count),
      GiveIf<"blocked">(calls, copies.blocked / called),
      GiveIf<"waited">(calls && device, copies.waited / called),
      GiveIf<"behind">(calls && device, copies.behind / called));
}

Statement RunsOf(const std::string& name, const KernelTime& kernel) {
  const double each = kernel.time / static_cast<double>(std::max<std::uint64_t>(1, kernel.count));
  return Say<words::kKernelRuns>(Give<"name">(PlainText(name, 60)), Give<"time">(kernel.time),
                                 Give<"runs">(kernel.count), Give<"each">(each));
}

Statement CountersOf(const GpuCounters& gpu) {
  return Say<words::kDeviceCounters>(
      Give<"index">(gpu.index), GiveIf<"model">(!gpu.model.empty(), PlainText(gpu.model, 40)),
      Give<"used">(UseByRun(gpu)), Give<"utilization">(gpu.utilization),
      Give<"memory_used">(gpu.memory_used), Give<"memory">(gpu.memory), Give<"power">(gpu.power),
      Give<"power_limit">(gpu.power_limit), Give<"temperature">(gpu.temperature),
      Give<"sm_clock">(gpu.sm_clock), Give<"memory_clock">(gpu.memory_clock),
      Give<"received">(gpu.received), GiveIf<"link">(gpu.link > 0, gpu.link),
      GiveIf<"power_capped">(gpu.power_capped > 0, gpu.power_capped),
      GiveIf<"too_hot">(gpu.too_hot > 0, gpu.too_hot),
      GiveIf<"slowed">(gpu.slowed > 0, gpu.slowed));
}

Statement NoDevice(const Report& report) {
  if (!report.diagnosis.loader) return Say<words::kNoLoaderSeen>();
  if (report.diagnosis.loader->device.kernels) return {};
  return Say<words::kNoKernels>(
      GiveIf<"reason">(!report.gpu_reason.empty(), PlainText(report.gpu_reason, 200)));
}

Statement NotAll(const Report& report) {
  const bool told = report.diagnosis.loader && !report.diagnosis.loader->device.kernels;
  if (told || report.gpu_reason.empty()) return {};
  return Say<words::kNotAllRecorded>(Give<"reason">(PlainText(report.gpu_reason, 300)));
}

Statement NvmlReason(const Report& report) {
  if (report.gpu_nvml.empty() || report.gpu_nvml == "sampled") return {};
  return Say<words::kNvmlReason>(Give<"reason">(PlainText(report.gpu_nvml, 200)));
}

}  // namespace penstock::analyzer
