// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/gpu_report.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "analyzer/report/gpu_phrases.h"
#include "analyzer/words/format.h"
#include "analyzer/words/gpu.h"

namespace penstock::analyzer {
namespace {

void WriteCopies(const DeviceActivity& activity, double link, JsonWriter& json) {
  json.Key("copies").BeginArray();
  for (const CopyTotals& copies : activity.copies) {
    json.BeginObject().Field("memory", CopyMemoryName(copies.memory));
    json.Field("count", copies.count).Field("bytes", copies.bytes);
    json.Field("transfer_s", copies.transfer).Field("overlapped_s", copies.overlapped);
    json.Field("exposed_s", copies.exposed).Field("calls", copies.called);
    json.Field("host_blocked_s", copies.blocked).Field("wait_before_s", copies.waited);
    json.Field("wait_behind_kernels_s", copies.behind).Field("bytes_per_s", copies.rate());
    json.Field("link_fraction", link > 0 ? copies.rate() / link : 0.0).EndObject();
  }
  json.EndArray();
}

void WriteSlowest(const Report& report, const DeviceActivity& activity, JsonWriter& json) {
  const auto seconds = [](std::int64_t from, std::int64_t to) {
    return from == kNever || to == kNever ? 0.0 : static_cast<double>(to - from) * 1e-9;
  };
  json.Key("slowest_copies").BeginArray();
  for (const DeviceCopy& copy : activity.slowest) {
    json.BeginObject().Field("at_s", seconds(report.diagnosis.run.begin.value, copy.start));
    json.Field("device", static_cast<std::uint64_t>(copy.device));
    json.Field("memory", CopyMemoryName(copy.memory)).Field("bytes", copy.bytes);
    json.Field("transfer_s", seconds(copy.start, copy.end));
    json.Field("call_known", copy.call_start != kNever);
    json.Field("host_blocked_s", seconds(copy.call_start, copy.call_end));
    json.Field("wait_before_s", std::max(0.0, seconds(copy.call_start, copy.start))).EndObject();
  }
  json.EndArray();
}

void WriteStep(const DeviceActivity& activity, JsonWriter& json) {
  const auto batches = static_cast<double>(std::max<std::size_t>(1, activity.batches));
  json.Key("step").BeginObject();
  json.Field("batches", static_cast<std::uint64_t>(activity.batches));
  json.Field("interval_s", activity.window / batches);
  const LoopShares& loop = activity.loop;
  json.Key("loop").BeginObject();
  json.Field("wait_s", loop.wait / batches).Field("copy_s", loop.copy / batches);
  json.Field("sync_s", loop.sync / batches).Field("rest_s", loop.rest / batches).EndObject();
  json.Key("device").BeginObject();
  json.Field("kernel_s", activity.computing / batches);
  json.Field("copy_s", activity.copying / batches);
  json.Field("copy_beside_kernels_s", activity.hidden / batches);
  json.Field("kernel_fraction", activity.Share(activity.computing));
  const IdleCauses& idle = activity.idle;
  json.Key("idle").BeginObject();
  json.Field("loader_s", idle.loader / batches).Field("copy_s", idle.copy / batches);
  json.Field("launch_s", idle.launch / batches).Field("sync_s", idle.sync / batches);
  json.Field("unknown_s", idle.unknown / batches).EndObject().EndObject().EndObject();
}

void WriteCounters(const GpuCounters& gpu, JsonWriter& json) {
  json.BeginObject().Field("index", static_cast<std::uint64_t>(gpu.index));
  json.Field("model", gpu.model).Field("used", gpu.used).Field("samples", gpu.samples);
  const auto field = [&](std::string_view key, const std::optional<double>& value) {
    if (value) json.Field(key, *value);
  };
  field("nvml_device_utilization", gpu.utilization);
  field("memory_used_bytes", gpu.memory_used);
  field("memory_bytes", gpu.memory);
  field("power_w", gpu.power);
  field("power_limit_w", gpu.power_limit);
  field("temperature_c", gpu.temperature);
  field("sm_clock_mhz", gpu.sm_clock);
  field("memory_clock_mhz", gpu.memory_clock);
  field("pcie_received_bytes_per_s", gpu.received);
  field("pcie_sent_bytes_per_s", gpu.sent);
  json.Field("link_bytes_per_s", gpu.link).Field("power_capped_fraction", gpu.power_capped);
  json.Field("heat_fraction", gpu.too_hot).Field("slowdown_fraction", gpu.slowed).EndObject();
}

bool AnythingKnown(const Report& report) {
  const bool active = report.diagnosis.loader && (report.diagnosis.loader->device.kernels ||
                                                  !report.diagnosis.loader->device.copies.empty());
  // If a program used a GPU but none of its work could be recorded, the report has only the reason.
  const bool told = !report.gpu_reason.empty() || !NvmlReason(report).empty();
  return active || !report.gpus.empty() || (!report.gpu_level.empty() && told);
}

std::string PartsText(const std::vector<StepPart>& parts, double whole) {
  std::string text;
  for (const StepPart& part : parts) {
    if (part.time < 0.0005 * whole) continue;
    text += fmt::format("{}{} {} ({})", text.empty() ? "" : ", ", English(part.name),
                        DurationText(part.time), PercentText(part.time / whole));
  }
  return text;
}

}  // namespace

void WriteGpuJson(const Report& report, JsonWriter& json) {
  json.BeginObject();
  json.Field("level", report.gpu_level).Field("reason", report.gpu_reason);
  json.Field("nvml", report.gpu_nvml);
  const bool known = report.diagnosis.loader && report.diagnosis.loader->device.kernels;
  json.Field("kernels_known", known);
  const double link = UsedLink(report.gpus);
  if (report.diagnosis.loader) {
    const DeviceActivity& activity = report.diagnosis.loader->device;
    json.Field("copies_on_device", activity.on_device);
    if (known) WriteStep(activity, json);
    WriteCopies(activity, link, json);
    WriteSlowest(report, activity, json);
    json.Key("active").BeginArray();
    for (const DeviceShare& share : activity.devices) {
      json.BeginObject().Field("device", static_cast<std::uint64_t>(share.device));
      json.Field("kernels", share.kernels);
      json.Field("kernel_fraction", activity.Share(share.computing));
      json.Field("copy_fraction", activity.Share(share.copying)).EndObject();
    }
    json.EndArray();
  }
  json.Key("kernels").BeginArray();
  for (const auto& [name, kernel] : report.kernels) {
    json.BeginObject().Field("name", name).Field("time_s", kernel.time);
    json.Field("count", kernel.count).EndObject();
  }
  json.EndArray();
  json.Key("devices").BeginArray();
  for (const GpuCounters& gpu : report.gpus) WriteCounters(gpu, json);
  json.EndArray().EndObject();
}

std::string GpuText(const Report& report) {
  if (!AnythingKnown(report)) return "";
  std::string text;
  const auto add = [&](std::string_view label, const std::string& line) {
    text += Labelled(label, line);
  };
  if (report.diagnosis.loader) {
    const DeviceActivity& activity = report.diagnosis.loader->device;
    if (activity.kernels && activity.batches > 0) {
      const double each = activity.window / static_cast<double>(activity.batches);
      add("a step", English(Say<words::kStepOfBothSides>(Give<"each">(each))));
      add("  the loop", PartsText(LoopView(activity), each));
      add("  the GPU", PartsText(DeviceView(activity), each));
    }
    for (const CopyTotals& copies : activity.copies) {
      add("copies", English(CopiesOf(copies, activity, UsedLink(report.gpus))));
    }
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(3, report.kernels.size()); ++i) {
    const auto& [name, kernel] = report.kernels[i];
    add(i == 0 ? "kernels" : "", English(RunsOf(name, kernel)));
  }
  Statement missing = NoDevice(report);
  if (!missing.empty()) {
    add("GPU", English(Say<words::kStepUnknown>(Give<"why">(std::move(missing)))));
  }
  add("GPU", English(NotAll(report)));
  for (const GpuCounters& gpu : report.gpus) add("GPU", English(CountersOf(gpu)));
  add("GPU", English(NvmlReason(report)));
  return text;
}

}  // namespace penstock::analyzer
