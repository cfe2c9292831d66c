// SPDX-License-Identifier: Apache-2.0
//
// Which way a copy went, and which memory of the host it used. A trace keeps both in the names of
// spans (traces/FORMAT.md, "Devices"), which are read here and nowhere else. Values.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "traces/trace.h"

namespace penstock::analyzer {

// Memory that the device sets itself is one of them.
enum class CopyWay : std::uint8_t { kToDevice, kFromDevice, kOnDevice, kPeer, kSet, kOther };
// The host's side of it.
enum class CopyMemory : std::uint8_t { kUnknown, kPageable, kPinned, kManaged };
[[nodiscard]] std::string_view CopyMemoryName(CopyMemory memory);  // "pageable", ...

struct CopyKind {
  CopyWay way = CopyWay::kOther;
  CopyMemory memory = CopyMemory::kUnknown;

  auto operator<=>(const CopyKind& other) const = default;
};

// nullopt: a stage that copies nothing, or a call that started no copy.
[[nodiscard]] std::optional<CopyKind> CopyKindOf(traces::StageId stage, std::string_view name);

// The kinds of the copies of one trace: reads each name once. Refers to the trace while it lives;
// not thread-safe.
class CopyKinds {
 public:
  explicit CopyKinds(const traces::Trace& trace) : trace_(trace) {}

  [[nodiscard]] std::optional<CopyKind> Of(traces::StageId stage, StringId name);

 private:
  const traces::Trace& trace_;
  std::unordered_map<std::uint64_t, std::optional<CopyKind>> known_;  // by stage and name
};

// The device whose stream a thread is, by its number or, in traces of other tools, by its name
// (then 0); nullopt: it is no stream.
[[nodiscard]] std::optional<std::uint32_t> DeviceOf(const traces::ThreadInfo& thread);

}  // namespace penstock::analyzer
