// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/copy_kind.h"

namespace penstock::analyzer {
namespace {

using traces::StageId;

CopyMemory MemoryIn(std::string_view text) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  if (has("pageable")) return CopyMemory::kPageable;
  if (has("pinned")) return CopyMemory::kPinned;
  return has("managed") ? CopyMemory::kManaged : CopyMemory::kUnknown;
}

CopyWay WayIn(std::string_view text) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  if (has("H2D")) return CopyWay::kToDevice;
  if (has("D2H")) return CopyWay::kFromDevice;
  if (has("D2D")) return CopyWay::kOnDevice;
  if (has("P2P")) return CopyWay::kPeer;
  return has("memset") ? CopyWay::kSet : CopyWay::kOther;
}

}  // namespace

std::string_view CopyMemoryName(CopyMemory memory) {
  switch (memory) {
    case CopyMemory::kPageable:
      return "pageable";
    case CopyMemory::kPinned:
      return "pinned";
    case CopyMemory::kManaged:
      return "managed";
    case CopyMemory::kUnknown:
      break;
  }
  return "unknown";
}

std::optional<CopyKind> CopyKindOf(StageId stage, std::string_view name) {
  switch (stage) {
    case StageId::kH2d:  // also a span of Python, whose name does not tell the direction
      return CopyKind{CopyWay::kToDevice, MemoryIn(name)};
    case StageId::kCopy:
      return CopyKind{WayIn(name), MemoryIn(name)};
    case StageId::kCall: {  // for example "cudaMemcpyAsync: H2D pageable"
      const std::size_t colon = name.find(": ");
      if (colon == std::string_view::npos) return std::nullopt;
      const std::string_view started = name.substr(colon + 2);
      const CopyWay way = WayIn(started);
      if (way == CopyWay::kOther) return std::nullopt;
      return CopyKind{way, MemoryIn(started)};
    }
    default:
      return std::nullopt;
  }
}

std::optional<CopyKind> CopyKinds::Of(StageId stage, StringId name) {
  const std::uint64_t key =
      (static_cast<std::uint64_t>(stage) << 32) | static_cast<std::uint64_t>(name.value);
  const auto [at, fresh] = known_.try_emplace(key);
  if (fresh) at->second = CopyKindOf(stage, trace_.String(name));
  return at->second;
}

std::optional<std::uint32_t> DeviceOf(const traces::ThreadInfo& thread) {
  if (wire::IsDeviceLane(thread.tid)) return wire::DeviceOfLane(thread.tid);
  if (thread.name.starts_with("GPU ")) return 0;
  return std::nullopt;
}

}  // namespace penstock::analyzer
