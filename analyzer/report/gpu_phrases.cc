// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/gpu_phrases.h"

#include <algorithm>
#include <cstdint>

#include <fmt/core.h>

#include "analyzer/words/format.h"

namespace penstock::analyzer {
namespace {

std::string RateText(double bytes_per_s) {
  return fmt::format("{:.1f} GB/s", bytes_per_s * 1e-9);
}

}  // namespace

std::vector<StepPart> LoopView(const DeviceActivity& activity) {
  const double each = 1 / static_cast<double>(std::max<std::size_t>(1, activity.batches));
  const LoopShares& loop = activity.loop;
  const double known = loop.wait + loop.copy + loop.sync + loop.rest;
  return {{"waits for data", "s-wait", loop.wait * each},
          {"in calls that copy", "s-h2d", loop.copy * each},
          {"waits for the device", "s-sync", loop.sync * each},
          {"launches and computes", "s-step", loop.rest * each},
          {"unknown", "s-idle", std::max(0.0, activity.window - known) * each}};
}

std::vector<StepPart> DeviceView(const DeviceActivity& activity) {
  const double each = 1 / static_cast<double>(std::max<std::size_t>(1, activity.batches));
  const IdleCauses& idle = activity.idle;
  return {{"kernels", "s-kernel", activity.computing * each},
          {"idle: copy", "s-h2d", idle.copy * each},
          {"idle: waits for data", "s-wait", idle.loader * each},
          {"idle: synchronisation", "s-sync", idle.sync * each},
          {"idle: launch by the host", "s-step", idle.launch * each},
          {"idle: unknown", "s-idle", idle.unknown * each}};
}

std::string CopiesText(const CopyTotals& copies, const DeviceActivity& activity, double link) {
  const auto count = static_cast<double>(std::max<std::uint64_t>(1, copies.count));
  std::string text = fmt::format("{} {}of {}: ", copies.count,
                                 copies.memory == CopyMemory::kUnknown
                                     ? std::string()
                                     : std::string(CopyMemoryName(copies.memory)) + " ",
                                 BytesText(static_cast<double>(copies.bytes) / count));
  if (activity.on_device) {
    text += fmt::format("{} on the device", DurationText(copies.transfer / count));
    if (copies.rate() > 0) {
      text += " at " + RateText(copies.rate());
      if (link > 0) text += fmt::format(" ({} of the link)", PercentText(copies.rate() / link));
    }
    text += activity.kernels ? fmt::format(", {} beside kernels, {} not",
                                           DurationText(copies.overlapped / count),
                                           DurationText(copies.exposed / count))
                             : "";
  }
  if (copies.called == 0) return text;
  const auto called = static_cast<double>(copies.called);
  text += fmt::format("{}{} in the call", activity.on_device ? "; " : "",
                      DurationText(copies.blocked / called));
  if (activity.on_device) {
    text += fmt::format(", begun {} after it ({} of that behind kernels)",
                        DurationText(copies.waited / called), DurationText(copies.behind / called));
  }
  return text;
}

std::string KernelText(const std::string& name, const KernelTime& kernel) {
  const double each = kernel.time / static_cast<double>(std::max<std::uint64_t>(1, kernel.count));
  return fmt::format("{}: {} in {} runs, {} each", PlainText(name, 60), DurationText(kernel.time),
                     kernel.count, DurationText(each));
}

std::string GpuLine(const GpuCounters& gpu) {
  std::string text = fmt::format("GPU {}", gpu.index);
  if (!gpu.model.empty()) text += " " + PlainText(gpu.model, 40);
  if (gpu.used == "process") text += ", used by this run";
  if (gpu.used == "open") text += ", open in this run";
  if (gpu.used == "no") text += ", not used by this run";
  const auto add = [&](const std::string& part) { text += ", " + part; };
  if (gpu.utilization) {
    add(fmt::format("NVML's utilisation {} (whole device, any program, windows of up to 1 s)",
                    PercentText(*gpu.utilization)));
  }
  if (gpu.memory_used) {
    add(gpu.memory
            ? fmt::format("memory {} of {}", BytesText(*gpu.memory_used), BytesText(*gpu.memory))
            : "memory " + BytesText(*gpu.memory_used));
  }
  if (gpu.power) {
    add(gpu.power_limit ? fmt::format("{:.0f} W of {:.0f} W", *gpu.power, *gpu.power_limit)
                        : fmt::format("{:.0f} W", *gpu.power));
  }
  if (gpu.temperature) add(fmt::format("at most {:.0f} degrees", *gpu.temperature));
  if (gpu.sm_clock) add(fmt::format("SM clock {:.0f} MHz", *gpu.sm_clock));
  if (gpu.memory_clock) add(fmt::format("memory clock {:.0f} MHz", *gpu.memory_clock));
  if (gpu.received) {
    add(fmt::format("PCIe from the host at most {}{}", RateText(*gpu.received),
                    gpu.link > 0 ? " of " + RateText(gpu.link) : ""));
  }
  if (gpu.power_capped > 0)
    add(fmt::format("clocks held down by power {} of the time", PercentText(gpu.power_capped)));
  if (gpu.too_hot > 0) add(fmt::format("by heat {} of the time", PercentText(gpu.too_hot)));
  if (gpu.slowed > 0) add(fmt::format("by the hardware {} of the time", PercentText(gpu.slowed)));
  return text;
}

std::string NoDeviceText(const Report& report) {
  if (!report.diagnosis.loader) return "no loader delivered batches while this was recorded";
  if (report.diagnosis.loader->device.kernels) return "";
  std::string text = "no kernels were recorded";
  if (!report.gpu_reason.empty()) text += ": " + PlainText(report.gpu_reason, 200);
  return text;
}

std::string NotAllText(const Report& report) {
  const bool told = report.diagnosis.loader && !report.diagnosis.loader->device.kernels;
  if (told || report.gpu_reason.empty()) return "";
  return "not all of what it did was recorded: " + PlainText(report.gpu_reason, 300);
}

std::string NvmlText(const Report& report) {
  if (report.gpu_nvml.empty() || report.gpu_nvml == "sampled") return "";
  return "NVML: " + PlainText(report.gpu_nvml, 200);
}

}  // namespace penstock::analyzer
