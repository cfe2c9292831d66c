// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/function_sums.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/model/functions.h"
#include "tests/analyzer/synthetic.h"
#include "tests/traces/call_tree_maker.h"

namespace penstock::analyzer {
namespace {

using testing::Ms;
using traces::testing::DataOf;
using traces::testing::FollowedUnit;

TEST(FunctionSumsTest, AFunctionBehindADispatcherHasItsOwnName) {
  const std::string numpy = "/usr/lib/python3/dist-packages/numpy";
  traces::UnitRow row;
  row.at = Ms(1100);
  row.duration = row.ordinary = Ms(10);
  row.neighbours = 8;
  row.stage = traces::StageId::kSample;
  FollowedUnit unit(row);
  const auto item = unit.Function("Points.__getitem__", "/home/a/data.py", 20, {Ms(10), Ms(2)});
  const auto api = unit.Function("array_function_dispatch.<locals>.decorator.<locals>.public_api",
                                 "<__array_function__ internals>", 177, {Ms(8), Ms(1)}, item);
  const auto builtin = unit.Builtin("implement_array_function", {Ms(7), Ms(0)}, api);
  unit.Function("unique", numpy + "/lib/arraysetops.py", 138, {Ms(7), Ms(7)}, builtin);
  traces::TraceData data = testing::MakeSynthetic({});
  unit.AddTo(DataOf{data});
  const FunctionProfiles profiles = ProfileFunctions(*traces::MakeTrace(std::move(data)));
  const FunctionTime& function = profiles.at(0).functions.at(0);
  EXPECT_EQ(function.called.at(0).name, "unique");
  EXPECT_NEAR(function.called[0].share, 0.7, 1e-9);
  EXPECT_NEAR(function.called[0].count, 1, 1e-9);
}

// Collate decodes and transforms what the samples read. Its functions have the share of all of
// that.
TEST(FunctionSumsTest, CollateCountsWithTheDecodesInsideIt) {
  testing::Synthetic run;
  run.batch_size = 1;
  run.costs = testing::Always({1, 10, 6, 1, 0.1, 0.2, 4, 0});
  traces::TraceData data = testing::MakeSynthetic(run);
  for (std::vector<traces::Span>& spans : data.spans) {
    for (traces::Span& span : spans) {
      if (span.stage == traces::StageId::kSample) span.duration = Ms(1);
      if (span.stage != traces::StageId::kCollate) continue;
      span.start = TimeNs{span.start.value - Ms(16).value};
      span.duration = Ms(17);
      span.cpu = Ms(17);
    }
    std::stable_sort(spans.begin(), spans.end(), [](const traces::Span& a, const traces::Span& b) {
      return a.start.value != b.start.value ? a.start < b.start : a.duration > b.duration;
    });
  }
  traces::UnitRow row;
  row.at = Ms(1100);
  row.duration = row.ordinary = Ms(17);
  row.neighbours = 8;
  row.stage = traces::StageId::kCollate;
  FollowedUnit unit(row);
  unit.Function("mosaic", "/home/a/data.py", 20, {Ms(17), Ms(17)});
  unit.AddTo(DataOf{data});
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(std::move(data)));
  EXPECT_NEAR(diagnosis.functions.at(0).of_stage, 17.0 / 18, 0.01);
}

}  // namespace
}  // namespace penstock::analyzer
