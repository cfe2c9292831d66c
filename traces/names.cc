// SPDX-License-Identifier: Apache-2.0
#include "traces/names.h"

#include <charconv>
#include <cstdint>
#include <system_error>

#include <fmt/format.h>

namespace penstock::traces {
namespace {

constexpr std::string_view kGpu = "gpu.";
constexpr std::uint32_t kMostGpus = 4096;

}  // namespace

std::optional<StageId> StageNamed(std::string_view name) {
  for (std::uint8_t i = 1; i < wire::kStageCount; ++i) {
    if (StageName(static_cast<StageId>(i)) == name) return static_cast<StageId>(i);
  }
  return std::nullopt;
}

std::optional<EventType> EventNamed(std::string_view name) {
  for (std::uint8_t i = 1; i <= static_cast<std::uint8_t>(EventType::kProbe); ++i) {
    if (EventName(static_cast<EventType>(i)) == name) return static_cast<EventType>(i);
  }
  return std::nullopt;
}

std::optional<GpuName> SplitGpuName(std::string_view name) {
  if (!name.starts_with(kGpu)) return std::nullopt;
  const char* end = name.data() + name.size();
  GpuName gpu;
  const auto read = std::from_chars(name.data() + kGpu.size(), end, gpu.device);
  if (read.ec != std::errc() || read.ptr == end || *read.ptr != '.' || gpu.device >= kMostGpus) {
    return std::nullopt;
  }
  gpu.rest = std::string_view(read.ptr + 1, static_cast<std::size_t>(end - read.ptr - 1));
  return gpu;
}

std::string JoinGpuName(std::uint32_t device, std::string_view rest) {
  return fmt::format("{}{}.{}", kGpu, device, rest);
}

}  // namespace penstock::traces
