// SPDX-License-Identifier: Apache-2.0
//
// Makes followed units for tests, as an agent records them for a sample, batch or step.
//
//   FollowedUnit unit({.at = start, .duration = Ms(10), .thread = thread});
//   const auto getitem = unit.Function("__getitem__", "/a/data.py", 40, {Ms(9), Ms(1)});
//   const auto loop = unit.Line(getitem, 47, {Ms(8), Ms(6), 4096});
//   unit.Builtin("numpy.random.choice", {Ms(2), Ms(2), 64}, loop);
//   unit.AddTo(builder);  // any Packer
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "traces/pack.h"
#include "traces/trace.h"

namespace penstock::traces::testing {

// Adds followed units to a trace's data: unit.AddTo(DataOf{data}).
struct DataOf {
  TraceData& data;

  [[nodiscard]] StringId Intern(std::string_view text) const {
    if (text.empty()) return StringId{};
    data.strings.emplace_back(text);
    return StringId{static_cast<std::uint32_t>(data.strings.size() - 1)};
  }
  void AddUnit(const UnitRow& unit) const { data.unit_rows.push_back(unit); }
  void AddCall(const CallRow& call) const { data.call_rows.push_back(call); }
};

class FollowedUnit {
 public:
  using Node = std::uint16_t;
  struct Times {
    TimeNs total{};
    TimeNs own{};
    std::uint64_t count = 1;
    TimeNs cost{};
  };

  // AddTo() sets `name` and `nodes` of `unit`.
  explicit FollowedUnit(const UnitRow& unit, std::string name = "Dataset")
      : unit_(unit), name_(std::move(name)) {}

  Node Function(std::string_view name, std::string_view file, std::uint32_t line,
                const Times& times, Node parent = wire::kNoNode) {
    return Add(CallKind::kFunction, name, file, line, times, parent);
  }
  Node Builtin(std::string_view name, const Times& times, Node parent = wire::kNoNode) {
    return Add(CallKind::kBuiltin, name, "", 0, times, parent);
  }
  // A line of the function `parent`. It has the name and the file of that function.
  Node Line(Node parent, std::uint32_t line, const Times& times) {
    const std::string name = calls_.at(parent).name;
    const std::string file = calls_.at(parent).file;
    unit_.flags |= wire::kUnitLines;
    return Add(CallKind::kLine, name, file, line, times, parent);
  }

  // `out`: a Packer, or another class with Intern(), AddUnit() and AddCall().
  template <class Out>
  void AddTo(Out&& out) const {
    UnitRow unit = unit_;
    unit.name = out.Intern(name_);
    unit.nodes = static_cast<std::uint16_t>(calls_.size());
    out.AddUnit(unit);
    for (const Call& call : calls_) {
      CallRow row = call.row;
      row.name = out.Intern(call.name);
      row.file = out.Intern(call.file);
      out.AddCall(row);
    }
  }

 private:
  struct Call {
    CallRow row;
    std::string name;
    std::string file;
  };

  Node Add(CallKind kind, std::string_view name, std::string_view file, std::uint32_t line,
           const Times& times, Node parent) {
    const auto node = static_cast<Node>(calls_.size());
    calls_.push_back({{.at = unit_.at,
                       .total = times.total,
                       .own = times.own,
                       .cost = times.cost,
                       .count = times.count,
                       .thread = unit_.thread,
                       .line = line,
                       .node = node,
                       .parent = parent,
                       .kind = kind},
                      std::string(name),
                      std::string(file)});
    return node;
  }

  UnitRow unit_;
  std::string name_;
  std::vector<Call> calls_;
};

}  // namespace penstock::traces::testing
