// SPDX-License-Identifier: Apache-2.0
//
// Followed units as a trace stores them: one row for each sample, collated batch or step whose
// Python calls were recorded, and one row for each node of its call tree. traces/call_trees.h
// builds the trees. Values, no ownership.
#pragma once

#include <cstdint>

#include "traces/base/units.h"
#include "traces/event.h"

namespace penstock::traces {

// No unit is longer than this, which is 39 hours. A unit has at most 65,535 rows, so the sum of
// their times does not overflow.
inline constexpr TimeNs kLongestUnit{std::int64_t{1} << 47};

enum class CallKind : std::uint8_t {
  kFunction = wire::kCallFunction,
  kBuiltin = wire::kCallBuiltin,
  kLine = wire::kCallLine,
};

struct UnitRow {
  TimeNs at{};        // its start; identifies the unit together with the thread
  TimeNs duration{};  // while it was followed
  TimeNs cost{};      // part of `duration`: the cost of following
  TimeNs ordinary{};  // median of `neighbours` units that were not followed; 0: not known
  std::int64_t sample = wire::kNoSample;
  ThreadId thread{};
  StringId name{};
  BatchKey batch{};
  std::uint32_t events = 0;      // calls, returns and lines that were seen
  std::uint16_t nodes = 0;       // number of its rows that were recorded
  std::uint16_t neighbours = 0;  // 0xffff: this many or more
  StageId stage = StageId::kNone;
  std::uint8_t flags = 0;   // wire::kUnit*
  std::uint8_t spread = 0;  // by how many percent `cost` may be off
};

struct CallRow {
  TimeNs at{};     // start of its unit
  TimeNs total{};  // inside all its calls, without `cost`
  TimeNs own{};    // part of `total` that is in no other node
  TimeNs cost{};   // cost of following, already subtracted from `total`
  std::uint64_t count = 0;
  ThreadId thread{};
  StringId name{};
  StringId file{};
  std::uint32_t line = 0;  // first line of a function; 0: none
  std::uint16_t node = 0;
  std::uint16_t parent = wire::kNoNode;
  CallKind kind = CallKind::kFunction;  // other values are from later versions
};

}  // namespace penstock::traces
