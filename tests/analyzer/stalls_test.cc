// SPDX-License-Identifier: Apache-2.0
//
// Stacks in the trace tell where workers and the training loop stood still.
#include "analyzer/model/stalls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/model/functions.h"
#include "analyzer/report/stall_report.h"
#include "tests/analyzer/finds.h"
#include "tests/analyzer/synthetic_ranks.h"
#include "tests/traces/call_tree_maker.h"

namespace penstock::analyzer {
namespace {

using testing::Ms;
using traces::UnitRow;
using traces::testing::DataOf;
using traces::testing::FollowedUnit;

constexpr const char* kStallData = "/home/a/dataset.py";
constexpr const char* kThreading = "/usr/lib/python3.11/threading.py";

// __getitem__ calls load(), which waits: in a lock of threading.py if `in_library`, else in its own
// line.
FollowedUnit Stall(double at, double duration, bool in_library) {
  UnitRow row;
  row.at = Ms(at);
  row.duration = Ms(duration);
  row.sample = 17;
  row.stage = traces::StageId::kSample;
  row.flags = wire::kUnitStall | wire::kUnitCut;
  FollowedUnit unit(row);
  const auto push = [&](const char* name, const char* file, std::uint32_t first, std::uint32_t line,
                        FollowedUnit::Node parent) {
    const auto function = unit.Function(name, file, first, {}, parent);
    return unit.Line(function, line, {});
  };
  const auto item = push("Photos.__getitem__", kStallData, 20, 23, wire::kNoNode);
  const auto load = push("load", kStallData, 50, 52, item);
  if (in_library) push("Condition.wait", kThreading, 300, 320, load);
  return unit;
}

traces::TraceData With(const std::vector<FollowedUnit>& stalls) {
  traces::TraceData data = testing::MakeSynthetic({});
  for (const FollowedUnit& stall : stalls) stall.AddTo(DataOf{data});
  return data;
}

TEST(StallsTest, NamesTheLineOfTheProgramAndWhereItWaits) {
  const auto trace = traces::MakeTrace(With({Stall(1100, 900, true), Stall(3000, 2100, true)}));
  const std::vector<Stalls> stalls = FindStalls(*trace);
  ASSERT_EQ(stalls.size(), 1U);
  EXPECT_EQ(stalls[0].name, "load");
  EXPECT_EQ(stalls[0].file, kStallData);
  EXPECT_EQ(stalls[0].line, 52U);
  EXPECT_EQ(stalls[0].waits_in, "Condition.wait");
  EXPECT_EQ(stalls[0].waits_line, 320U);
  EXPECT_EQ(stalls[0].count, 2U);
  EXPECT_NEAR(stalls[0].time, 3.0, 1e-9);
  EXPECT_NEAR(stalls[0].longest, 2.1, 1e-9);
  EXPECT_EQ(stalls[0].at, Ms(3000) - trace->begin());
}

TEST(StallsTest, AreNoFollowedSamples) {
  EXPECT_TRUE(ProfileFunctions(*traces::MakeTrace(With({Stall(1100, 900, true)}))).empty());
}

TEST(StallsTest, AreSaidInBothLanguages) {
  const auto trace = traces::MakeTrace(With({Stall(1100, 900, true), Stall(3000, 2100, false)}));
  const Report report = BuildReport(*trace, "t.penstock");
  const std::string text = StallsText(report);
  std::string joined;  // lines are wrapped
  for (const char c : text) {
    if (c == '\n' || (c == ' ' && !joined.empty() && joined.back() == ' ')) continue;
    joined += c;
  }
  EXPECT_NE(joined.find("stood still for 2.10 s in load (dataset.py:52), at dataset index 17"),
            std::string::npos)
      << text;
  EXPECT_NE(joined.find("inside Condition.wait (threading.py:320)"), std::string::npos) << text;
  const std::string page = StallsHtml(report, Language::kChinese);
  EXPECT_NE(page.find("停在 Condition.wait（threading.py:320）内"), std::string::npos) << page;
  const std::string json = ReportJson(report);
  EXPECT_NE(json.find("\"stalls\""), std::string::npos);
  EXPECT_NE(json.find("\"inside_line\": 320"), std::string::npos) << json.substr(0, 300);
}

TEST(StallsTest, ThoseThatAreLeftOutAreCounted) {
  Report report = BuildReport(*traces::MakeTrace(With({Stall(1100, 900, true)})), "t");
  report.stalls.resize(3, report.stalls.front());
  EXPECT_EQ(StallsText(report).find("more"), std::string::npos) << StallsText(report);
  report.stalls.resize(5, report.stalls.front());
  EXPECT_NE(StallsText(report).find("2 more places"), std::string::npos) << StallsText(report);
  EXPECT_NE(StallsHtml(report, Language::kChinese).find("另有 2 处"), std::string::npos);
}

TEST(StallsTest, OfAnIterableDatasetHaveNoIndex) {
  for (const char* kind : {"map", "iterable"}) {
    traces::TraceData data = With({Stall(1100, 900, true)});
    for (auto& process : data.processes) {
      if (process.facts.count("loader.0.num_workers") == 0) continue;
      process.facts["loader.0.dataset_kind"] = kind;
    }
    const Report report = BuildReport(*traces::MakeTrace(std::move(data)), "t.penstock");
    const std::string page = StallsHtml(report, Language::kEnglish);
    EXPECT_NE(page.find("stood still"), std::string::npos) << page;
    const bool said = page.find("at dataset index 17") != std::string::npos;
    EXPECT_EQ(said, std::string(kind) == "map") << page;
  }
}

// Both ranks number their first iterator 1, so this number alone does not tell the dataset.
TEST(StallsTest, OfARankAreAtASampleOfItsOwnDataset) {
  for (const std::uint32_t rank : {0U, 1U}) {
    traces::TraceData data = testing::SideBySide({}, 2);
    const auto each = static_cast<std::uint32_t>(data.processes.size() / 2);
    data.processes[0].facts["loader.0.dataset_kind"] = "map";
    data.processes[each].facts["loader.0.dataset_kind"] = "iterable";
    const ProcessId worker{rank * each + 1};
    const auto thread = std::find_if(data.threads.begin(), data.threads.end(),
                                     [&](const auto& one) { return one.process == worker; });
    UnitRow row;
    row.at = Ms(1100);
    row.duration = Ms(900);
    row.thread = ThreadId{static_cast<std::uint32_t>(thread - data.threads.begin())};
    row.stage = traces::StageId::kSample;
    row.sample = 17;
    row.batch = {7, 1};
    row.flags = wire::kUnitStall | wire::kUnitCut;
    FollowedUnit unit(row);
    unit.Line(unit.Function("load", kStallData, 50, {}), 52, {});
    unit.AddTo(DataOf{data});
    const auto trace = traces::MakeTrace(std::move(data));
    const std::vector<Stalls> stalls = FindStalls(*trace);
    ASSERT_EQ(stalls.size(), 1U);
    EXPECT_EQ(IsIndexed(stalls[0], BuildRunModel(*trace)), rank == 0);
  }
}

TEST(StallsTest, OfTheLoopAreToldApartFromThoseAfterAnEpoch) {
  for (const bool after : {false, true}) {
    UnitRow row;
    row.at = Ms(1100);
    row.duration = Ms(900);
    row.stage = traces::StageId::kStep;
    row.flags = wire::kUnitStall | wire::kUnitCut;
    if (!after) row.batch = {7, 1};
    FollowedUnit unit(row);
    unit.Line(unit.Function("main", "/home/a/train.py", 10, {}), 31, {});
    const Report report = BuildReport(*traces::MakeTrace(With({unit})), "t.penstock");
    ASSERT_EQ(report.stalls.size(), 1U);
    EXPECT_EQ(report.stalls[0].after_epoch, after);
    const bool said =
        StallsHtml(report, Language::kEnglish).find("after the last batch of an epoch") !=
        std::string::npos;
    EXPECT_EQ(said, after);
  }
}

TEST(StallsTest, SayNothingWhereNothingStoodStill) {
  const Report report = BuildReport(*traces::MakeTrace(With({})), "t.penstock");
  EXPECT_EQ(StallsText(report), "");
  EXPECT_EQ(StallsHtml(report, Language::kEnglish), "");
}

}  // namespace
}  // namespace penstock::analyzer
