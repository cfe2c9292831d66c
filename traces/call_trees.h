// SPDX-License-Identifier: Apache-2.0
//
// The call trees of a trace: of samples, collated batches and steps in which the agent followed
// each Python call (traces/FORMAT.md, "Followed units"). The tree of a stall (wire::kUnitStall) is
// the stack of a thread that stood still, and its nodes have no times. Values, no ownership; pure
// functions.
#pragma once

#include <cstdint>
#include <vector>

#include "traces/call_rows.h"
#include "traces/trace.h"

namespace penstock::traces {

inline constexpr std::uint32_t kNoCall = 0xffffffffu;

// A function as called along one path, a builtin, or a line of the function above it.
struct CallNode {
  TimeNs total{};
  TimeNs own{};
  TimeNs cost{};
  std::uint64_t count = 0;
  StringId name{};  // "make_edges", "numpy.random.choice"; a line has the name of its function
  StringId file{};  // path as the interpreter has it; none for a builtin
  std::uint32_t line = 0;
  std::uint32_t parent = kNoCall;  // index of a node before this one; kNoCall: the unit itself
  CallKind kind = CallKind::kFunction;
};

struct CallTree {
  UnitRow unit;
  std::vector<CallNode> nodes;  // parents before their children
  bool complete = false;        // none of its rows is missing

  // The time of the unit without the cost of following; at least the sum of its outermost nodes.
  [[nodiscard]] TimeNs total() const;
  // The part of total() that is in no node: code that was running when the unit began, and our
  // hooks.
  [[nodiscard]] TimeNs own() const;
};

struct CallTrees {
  std::vector<CallTree> trees;  // ascending start
  std::uint64_t lost_rows = 0;  // rows whose unit or parent is missing, and duplicates
};

[[nodiscard]] CallTrees ReadCallTrees(const Trace& trace);

}  // namespace penstock::traces
