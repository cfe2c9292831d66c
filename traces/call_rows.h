// SPDX-License-Identifier: Apache-2.0
//
// Followed units as they lie in a trace: one row for each sample, collated batch or step of which
// the Python calls were recorded, one row for each node of its call tree. traces/call_trees.h puts
// them together. Values, no ownership.
#pragma once

#include <cstdint>

#include "traces/base/units.h"
#include "traces/event.h"

namespace penstock::traces {

// No unit is longer (39 hours): the times of its rows, at most 65,535, can be added up.
inline constexpr TimeNs kLongestUnit{std::int64_t{1} << 47};

enum class CallKind : std::uint8_t {
  kFunction = wire::kCallFunction,
  kBuiltin = wire::kCallBuiltin,
  kLine = wire::kCallLine,
};

struct UnitRow {
  TimeNs at{};        // its start; with the thread this identifies the unit
  TimeNs duration{};  // as it took, followed
  TimeNs cost{};      // of that, what following cost
  TimeNs ordinary{};  // median of `neighbours` units that were not followed; 0: not known
  std::int64_t sample = wire::kNoSample;
  ThreadId thread{};
  StringId name{};
  BatchKey batch{};
  std::uint32_t events = 0;      // calls, returns and lines that were seen
  std::uint16_t nodes = 0;       // rows that were recorded for it
  std::uint16_t neighbours = 0;  // 0xffff: that many or more
  StageId stage = StageId::kNone;
  std::uint8_t flags = 0;   // wire::kUnit*
  std::uint8_t spread = 0;  // `cost` may be wrong by so many percent
};

struct CallRow {
  TimeNs at{};     // of its unit
  TimeNs total{};  // inside all its calls, without `cost`
  TimeNs own{};    // of that, outside of other nodes
  TimeNs cost{};   // of following, taken off `total`
  std::uint64_t count = 0;
  ThreadId thread{};
  StringId name{};
  StringId file{};
  std::uint32_t line = 0;  // first line of a function; 0: none
  std::uint16_t node = 0;
  std::uint16_t parent = wire::kNoNode;
  CallKind kind = CallKind::kFunction;  // others: of a later version
};

}  // namespace penstock::traces
