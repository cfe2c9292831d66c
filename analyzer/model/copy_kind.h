// SPDX-License-Identifier: Apache-2.0
//
// The direction of a copy, and the kind of host memory that it used. A trace keeps both in the
// names of spans (traces/FORMAT.md, "Devices"). Only this file reads these names. Values.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "traces/trace.h"

namespace penstock::analyzer {

// kSet: the device sets its own memory (memset).
enum class CopyWay : std::uint8_t { kToDevice, kFromDevice, kOnDevice, kPeer, kSet, kOther };
// The kind of memory on the host's side.
enum class CopyMemory : std::uint8_t { kUnknown, kPageable, kPinned, kManaged };
[[nodiscard]] std::string_view CopyMemoryName(CopyMemory memory);  // "pageable", ...

struct CopyKind {
  CopyWay way = CopyWay::kOther;
  CopyMemory memory = CopyMemory::kUnknown;

  auto operator<=>(const CopyKind& other) const = default;
};

// nullopt: the stage copies nothing, or the call started no copy.
[[nodiscard]] std::optional<CopyKind> CopyKindOf(traces::StageId stage, std::string_view name);

// The kinds of the copies in one trace; reads each name once. Refers to the trace while it lives;
// not thread-safe.
class CopyKinds {
 public:
  explicit CopyKinds(const traces::Trace& trace) : trace_(trace) {}

  [[nodiscard]] std::optional<CopyKind> Of(traces::StageId stage, StringId name);

 private:
  const traces::Trace& trace_;
  std::unordered_map<std::uint64_t, std::optional<CopyKind>> known_;  // by stage and name
};

// The device whose stream a thread is, by the thread's number. In traces of other tools, a thread
// whose name begins with "GPU " is a stream, and its device is taken to be 0. nullopt: the thread
// is not a stream.
[[nodiscard]] std::optional<std::uint32_t> DeviceOf(const traces::ThreadInfo& thread);

}  // namespace penstock::analyzer
