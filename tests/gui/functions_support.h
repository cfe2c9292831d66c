// SPDX-License-Identifier: Apache-2.0
//
// A run with samples that were followed call by call. All its numbers are known.
#pragma once

#include <string>
#include <string_view>

#include "tests/analyzer/synthetic.h"
#include "tests/traces/call_tree_maker.h"

namespace penstock::gui::testing {

struct UnitSink {
  traces::TraceData& data;
  StringId Intern(std::string_view text) const {
    return text.empty() ? StringId{} : data.Intern(std::string(text));
  }
  void AddUnit(const traces::UnitRow& unit) const { data.unit_rows.push_back(unit); }
  void AddCall(const traces::CallRow& call) const { data.call_rows.push_back(call); }
};

// A sample of 10 ms: 1 ms in __getitem__ itself, 6 ms in make_edges, 3 ms in imdecode. Line 52 of
// make_edges takes 5 ms, of which copy.deepcopy takes 2 ms. A slow sample takes 10 ms more in
// make_edges.
inline traces::testing::FollowedUnit FollowedSample(double at, const std::string& file, bool lines,
                                                    bool slow) {
  using analyzer::testing::Ms;
  traces::UnitRow row;
  row.at = Ms(at);
  row.duration = row.ordinary = Ms(slow ? 20 : 10);
  row.neighbours = 8;
  row.stage = traces::StageId::kSample;
  traces::testing::FollowedUnit unit(row);
  const double more = slow ? 10 : 0;
  const auto item = unit.Function("Photos.__getitem__", file, 20, {Ms(10 + more), Ms(1)});
  const double own = lines ? 1 : 4;
  const auto edges = unit.Function("make_edges", file, 47, {Ms(6 + more), Ms(own + more)}, item);
  const auto line = lines ? unit.Line(edges, 52, {Ms(5), Ms(3), 4096}) : edges;
  unit.Function("deepcopy", "/usr/lib/python3.11/copy.py", 128, {Ms(2), Ms(2), 64}, line);
  unit.Builtin("cv2.imdecode", {Ms(3), Ms(3)}, item);
  return unit;
}

// `augment`: milliseconds of a batch of four samples. As given, the recorded samples take 10 ms
// too.
inline traces::TraceData RunWithFunctions(const std::string& file = "/home/a/dataset.py",
                                          int slow = 0, double augment = 27) {
  analyzer::testing::Synthetic run;
  run.costs = analyzer::testing::Always({.read = 1, .decode = 12, .augment = augment, .step = 4});
  traces::TraceData data = analyzer::testing::MakeSynthetic(run);
  constexpr int kUnits = 32;
  for (int i = 0; i < kUnits; ++i) {
    const bool lines = i % 2 == 1;
    FollowedSample(1100 + 20 * i, file, lines, !lines && i < 2 * slow).AddTo(UnitSink{data});
  }
  return data;
}

}  // namespace penstock::gui::testing
