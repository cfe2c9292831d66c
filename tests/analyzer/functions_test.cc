// SPDX-License-Identifier: Apache-2.0
//
// Functions and lines of the program, measured in followed units (samples, collations or steps):
// which function a time counts for, and what rules and report say.
#include "analyzer/model/functions.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <utility>

#include "analyzer/report/flame.h"
#include "analyzer/report/function_report.h"
#include "analyzer/report/source_lines.h"
#include "tests/analyzer/finds.h"
#include "tests/traces/call_tree_maker.h"

namespace penstock::analyzer {
namespace {

using testing::FindingOf;
using testing::MakeSynthetic;
using testing::Ms;
using testing::Synthetic;
using traces::UnitRow;
using traces::testing::FollowedUnit;

constexpr const char* kData = "/home/a/dataset.py";
constexpr const char* kCopy = "/usr/lib/python3.11/copy.py";

struct DataSink {
  traces::TraceData& data;

  StringId Intern(std::string_view text) const {
    if (text.empty()) return StringId{};
    data.strings.emplace_back(text);
    return StringId{static_cast<std::uint32_t>(data.strings.size() - 1)};
  }
  void AddUnit(const UnitRow& unit) const { data.unit_rows.push_back(unit); }
  void AddCall(const traces::CallRow& call) const { data.call_rows.push_back(call); }
};

UnitRow SampleOf(double at, double duration, double ordinary) {
  UnitRow unit;
  unit.at = Ms(at);
  unit.duration = Ms(duration);
  unit.ordinary = Ms(ordinary);
  unit.neighbours = 8;
  unit.stage = traces::StageId::kSample;
  return unit;
}

FunctionProfiles ProfilesOf(const std::vector<FollowedUnit>& units) {
  traces::TraceData data = MakeSynthetic({});
  for (const FollowedUnit& unit : units) unit.AddTo(DataSink{data});
  return ProfileFunctions(*traces::MakeTrace(std::move(data)));
}

// A sample of 10 ms: __getitem__ takes 1 ms itself, make_edges 6 ms, decoding 3 ms. Line 52 takes 5
// of the 6 ms of make_edges. 2 of these 5 ms are a call of copy.deepcopy.
FollowedUnit Edges(double at) {
  FollowedUnit unit(SampleOf(at, 10, 10));
  const auto item = unit.Function("Photos.__getitem__", kData, 20, {Ms(10), Ms(1)});
  const auto edges = unit.Function("make_edges", kData, 47, {Ms(6), Ms(1)}, item);
  const auto line = unit.Line(edges, 52, {Ms(5), Ms(3), 4096});
  unit.Function("deepcopy", kCopy, 128, {Ms(2), Ms(2), 64}, line);
  unit.Builtin("cv2.imdecode", {Ms(3), Ms(3)}, item);
  return unit;
}

TEST(FunctionsTest, ChargesALibraryToTheFunctionThatCalledIt) {
  const FunctionProfiles profiles = ProfilesOf({Edges(1100)});
  ASSERT_EQ(profiles.size(), 1U);
  ASSERT_EQ(profiles[0].functions.size(), 2U);
  const FunctionTime& edges = profiles[0].functions[0];
  EXPECT_EQ(edges.name, "make_edges");
  EXPECT_NEAR(edges.share, 0.6, 1e-9);
  EXPECT_NEAR(edges.own, 0.4, 1e-9);
  ASSERT_EQ(edges.called.size(), 1U);
  EXPECT_EQ(edges.called[0].name, "deepcopy");
  EXPECT_NEAR(edges.called[0].share, 0.2, 1e-9);
}

TEST(FunctionsTest, GivesALineWhatItCalled) {
  const FunctionProfiles profiles = ProfilesOf({Edges(1100)});
  const FunctionTime& edges = profiles.at(0).functions.at(0);
  ASSERT_EQ(edges.lines.size(), 1U);
  EXPECT_EQ(edges.lines[0].line, 52U);
  EXPECT_NEAR(edges.lines[0].share, 0.5, 1e-9);
  EXPECT_NEAR(edges.lines[0].own, 0.3, 1e-9);
  EXPECT_NEAR(edges.lines[0].count, 4096, 1e-9);
}

TEST(FunctionsTest, CountsTheCallsBelowOnceForEachFunction) {
  FollowedUnit unit(SampleOf(1100, 10, 10));
  const auto outer = unit.Function("fib", kData, 5, {Ms(10), Ms(2)});
  const auto middle = unit.Function("fib", kData, 5, {Ms(8), Ms(3), 2}, outer);
  unit.Function("fib", kData, 5, {Ms(5), Ms(5), 4}, middle);
  const FunctionProfiles profiles = ProfilesOf({unit});
  ASSERT_EQ(profiles.at(0).functions.size(), 1U);
  EXPECT_NEAR(profiles[0].functions[0].total, 1, 1e-9);
  EXPECT_NEAR(profiles[0].functions[0].count, 7, 1e-9);
}

// Following calls made the interpreter take 16 ms instead of 8; the builtin always takes 2 ms.
TEST(FunctionsTest, ScalesTheInterpreterToUnitsThatWereNotFollowed) {
  UnitRow row = SampleOf(1100, 18, 10);
  row.flags = wire::kUnitSlowed;
  FollowedUnit unit(row);
  const auto item = unit.Function("Photos.__getitem__", kData, 20, {Ms(18), Ms(16)});
  unit.Builtin("cv2.imdecode", {Ms(2), Ms(2)}, item);
  const FunctionProfiles profiles = ProfilesOf({unit});
  EXPECT_NEAR(profiles.at(0).unit_time, 0.010, 1e-6);
  const FunctionTime& function = profiles[0].functions.at(0);
  EXPECT_NEAR(function.own, 0.8, 1e-6);
  EXPECT_NEAR(function.called.at(0).share, 0.2, 1e-6);
}

// A unit with lines that was cut tells the lines, although units without lines, whose events cost
// 0.1 ms, happened to take a tenth longer than their neighbours. That says nothing about the 3 ms
// that the events of the lines cost.
TEST(FunctionsTest, ALittleNoiseDoesNotMakeTheEventsOfLinesDear) {
  FollowedUnit whole(SampleOf(1100, 11.1, 10));
  whole.Function("edges", kData, 47, {.total = Ms(11), .own = Ms(11), .cost = Ms(0.1)});
  UnitRow row = SampleOf(1300, 12, 10);
  row.cost = Ms(3);
  row.flags = wire::kUnitCut;
  FollowedUnit cut(row);
  const auto edges =
      cut.Function("edges", kData, 47, {.total = Ms(9), .own = Ms(0), .cost = Ms(3)});
  cut.Line(edges, 52, {.total = Ms(9), .own = Ms(9), .count = 50000, .cost = Ms(3)});
  const FunctionProfiles profiles = ProfilesOf({whole, cut});
  const FunctionTime& function = profiles.at(0).functions.at(0);
  ASSERT_EQ(function.lines.size(), 1U);
  EXPECT_TRUE(function.of_cut);
  EXPECT_NEAR(function.lines[0].share, 1, 0.01);
}

// The sample took 11 ms, from which 4 ms were subtracted as the cost of the events of `parse`.
// Units that were not followed take 10 ms, not 7, so the events cost only 1 ms.
TEST(FunctionsTest, GivesBackWhatEventsDidNotCost) {
  for (const bool slowed : {false, true}) {
    UnitRow row = SampleOf(1100, 11, 10);
    row.cost = Ms(4);
    if (slowed) row.flags = wire::kUnitSlowed;
    FollowedUnit unit(row);
    const auto item = unit.Function("Photos.__getitem__", kData, 20,
                                    {.total = Ms(7), .own = Ms(1), .cost = Ms(4)});
    unit.Function("parse", kData, 30, {.total = Ms(4), .own = Ms(4), .cost = Ms(4)}, item);
    unit.Builtin("cv2.imdecode", {.total = Ms(2), .own = Ms(2)}, item);
    const FunctionProfiles profiles = ProfilesOf({unit});
    EXPECT_NEAR(profiles.at(0).unit_time, 0.010, 1e-6);
    const FunctionTime& function = profiles[0].functions.at(0);
    EXPECT_EQ(function.name, "parse");
    EXPECT_NEAR(function.share, 0.7, 1e-6);
  }
}

// A line that runs once and takes milliseconds waits for a lock or computes in C. It was not slowed
// down, but the loop in the other function was.
TEST(FunctionsTest, DoesNotScaleALineThatRunsOnceForLong) {
  UnitRow row = SampleOf(1100, 14, 10);
  row.flags = wire::kUnitSlowed;
  FollowedUnit plain(row);
  const auto with_lock = plain.Function("take", kData, 30, {Ms(14), Ms(6)});
  plain.Function("loop", kData, 40, {Ms(8), Ms(8)}, with_lock);
  row.at = Ms(1200);
  FollowedUnit lined(row);
  const auto take = lined.Function("take", kData, 30, {Ms(14), Ms(0)});
  lined.Line(take, 31, {Ms(6), Ms(6), 1});
  const auto loop = lined.Function("loop", kData, 40, {Ms(8), Ms(0)}, take);
  lined.Line(loop, 41, {Ms(8), Ms(8), 4000});
  const FunctionProfiles profiles = ProfilesOf({plain, lined});
  for (const FunctionTime& function : profiles.at(0).functions) {
    EXPECT_NEAR(function.share, function.name == "take" ? 0.6 : 0.4, 0.002) << function.name;
    EXPECT_NEAR(function.lines.at(0).share, function.share, 1e-6) << function.name;
  }
}

TEST(FunctionsTest, LeavesOutUnitsThatWereCut) {
  UnitRow row = SampleOf(1100, 18, 10);
  row.flags = wire::kUnitCut;
  FollowedUnit unit(row);
  unit.Function("Photos.__getitem__", kData, 20, {Ms(18), Ms(18)});
  EXPECT_TRUE(ProfilesOf({unit}).empty());
}

// If a function has very many calls, the recording of each unit that follows its lines is cut.
TEST(FunctionsTest, TakesLinesFromAUnitThatWasCutIfMostOfTheFunctionCameBefore) {
  FollowedUnit whole(SampleOf(1100, 10, 10));
  const auto item = whole.Function("Photos.__getitem__", kData, 20, {Ms(10), Ms(4)});
  whole.Function("deepcopy", kCopy, 128, {Ms(6), Ms(6), 60000}, item);
  for (const double before : {0.9, 0.2}) {  // the part of the function that came before the cut
    UnitRow row = SampleOf(1300, 12 * before, 10);
    row.flags = wire::kUnitCut;
    FollowedUnit cut(row);
    const auto same = cut.Function("Photos.__getitem__", kData, 20, {Ms(10 * before), Ms(0)});
    const auto line = cut.Line(same, 23, {Ms(9 * before), Ms(3 * before), 1});
    cut.Line(same, 24, {Ms(1 * before), Ms(1 * before), 1});
    cut.Function("deepcopy", kCopy, 128, {Ms(6 * before), Ms(6 * before), 50000}, line);
    const FunctionProfiles profiles = ProfilesOf({whole, cut});
    const FunctionTime& function = profiles.at(0).functions.at(0);
    EXPECT_EQ(profiles[0].units, 1U);
    EXPECT_NEAR(function.share, 1, 1e-6);
    ASSERT_EQ(function.lines.size(), before > 0.5 ? 2U : 0U);
    EXPECT_EQ(function.of_cut, before > 0.5);
    if (before < 0.5) continue;
    EXPECT_EQ(function.lines[0].line, 23U);
    EXPECT_NEAR(function.lines[0].share, 0.9, 1e-6);
  }
}

TEST(FunctionsTest, LeavesOutAUnitThatWaitedForACore) {
  FollowedUnit waited(SampleOf(1500, 80, 10));
  const auto item = waited.Function("Photos.__getitem__", kData, 20, {Ms(80), Ms(1)});
  waited.Builtin("torch.tensor", {Ms(79), Ms(79)}, item);
  const FunctionProfiles profiles =
      ProfilesOf({Edges(1100), Edges(1200), Edges(1300), Edges(1400), waited});
  EXPECT_NEAR(profiles.at(0).unit_time, 0.010, 1e-6);
}

TEST(FunctionsTest, LetsALibrarysDatasetStandForItself) {
  constexpr const char* kFolder =
      "/venv/lib/python3.11/site-packages/torchvision/datasets/folder.py";
  FollowedUnit unit(SampleOf(1100, 10, 10));
  const auto item = unit.Function("DatasetFolder.__getitem__", kFolder, 220, {Ms(10), Ms(1)});
  unit.Function("pil_loader", kFolder, 250, {Ms(9), Ms(9)}, item);
  const FunctionProfiles profiles = ProfilesOf({unit});
  ASSERT_EQ(profiles.at(0).functions.size(), 2U);
  EXPECT_EQ(profiles[0].functions[0].name, "pil_loader");
  EXPECT_TRUE(profiles[0].functions[0].is_library);
}

TEST(FunctionsTest, PathsKeepTheShapeOfTheTree) {
  const FunctionProfiles profiles = ProfilesOf({Edges(1100), Edges(1200)});
  const std::vector<CallPath>& paths = profiles.at(0).paths;
  ASSERT_EQ(paths.size(), 4U);  // lines are no paths
  EXPECT_EQ(paths[0].parent, 0U);
  EXPECT_NEAR(paths[0].total, 1, 1e-9);
  EXPECT_EQ(paths[2].name, "deepcopy");
  EXPECT_EQ(paths[2].parent, 1U);
  EXPECT_NEAR(paths[2].total, 0.2, 1e-9);
}

TEST(FunctionsTest, PathsCountTheirCallsInAUnit) {
  const FunctionProfiles profiles = ProfilesOf({Edges(1100), Edges(1200)});
  EXPECT_NEAR(profiles.at(0).paths.at(2).count, 64, 1e-9);
}

TEST(FlameTest, ABoxLiesBelowItsCallerBesideWhatWasCalledBefore) {
  const FunctionProfiles profiles = ProfilesOf({Edges(1100)});
  const std::vector<FlameBox> boxes = FlameBoxes(profiles.at(0).paths);
  ASSERT_EQ(boxes.size(), 4U);  // __getitem__, make_edges, deepcopy, imdecode
  EXPECT_EQ(boxes[2].depth, 2U);
  EXPECT_NEAR(boxes[2].left, 0, 1e-9);
  EXPECT_EQ(boxes[3].depth, 1U);
  EXPECT_NEAR(boxes[3].left, 0.6, 1e-9);
  EXPECT_NEAR(boxes[0].own, 0.1, 1e-9);
  EXPECT_NEAR(boxes[1].own, 0.4, 1e-9);
}

// A sample takes 10 ms; a slow one repairs its text for 10 ms more.
FollowedUnit TextSample(double at, bool slow) {
  FollowedUnit unit(SampleOf(at, slow ? 20 : 10, 10));
  const auto item = unit.Function("Lines.__getitem__", kData, 20, {Ms(slow ? 20 : 10), Ms(10)});
  if (slow) unit.Function("repair", kData, 60, {Ms(10), Ms(10)}, item);
  return unit;
}

std::vector<FollowedUnit> TextSamples(int count, int slow) {
  std::vector<FollowedUnit> units;
  for (int i = 0; i < count; ++i) units.push_back(TextSample(1100 + 5 * i, i < slow));
  return units;
}

TEST(SlowUnitsTest, NamesWhatSlowSamplesDoMore) {
  const FunctionProfiles profiles = ProfilesOf(TextSamples(16, 4));
  const SlowUnits& slow = profiles.at(0).slow;
  EXPECT_EQ(slow.units, 4U);
  EXPECT_EQ(slow.others, 12U);
  EXPECT_NEAR(slow.slow_time, 0.020, 1e-9);
  EXPECT_NEAR(slow.other_time, 0.010, 1e-9);
  ASSERT_EQ(slow.functions.size(), 1U);
  EXPECT_EQ(slow.functions[0].name, "repair");
  EXPECT_NEAR(slow.functions[0].slow, 0.010, 1e-9);
  EXPECT_EQ(slow.functions[0].others, 0);
}

TEST(SlowUnitsTest, SaysNothingOfFewSamplesOrFewSlowOnes) {
  for (const auto& [count, slow] : {std::pair(11, 4), std::pair(16, 2), std::pair(16, 0)}) {
    EXPECT_EQ(ProfilesOf(TextSamples(count, slow)).at(0).slow.units, 0U) << count << " " << slow;
  }
}

// Before Python 3.12, following calls slows the interpreter, in slow samples as much as in others.
TEST(SlowUnitsTest, ScalesSlowSamplesAsTheOthers) {
  std::vector<FollowedUnit> units;
  for (int i = 0; i < 16; ++i) {
    UnitRow row = SampleOf(1100 + 5 * i, i < 4 ? 40 : 20, 10);
    row.flags = wire::kUnitSlowed;
    units.emplace_back(row);
    units.back().Function("Lines.__getitem__", kData, 20, {row.duration, row.duration});
  }
  const FunctionProfiles profiles = ProfilesOf(units);
  EXPECT_NEAR(profiles.at(0).slow.slow_time, 0.020, 1e-6);
  EXPECT_NEAR(profiles.at(0).slow.other_time, 0.010, 1e-6);
}

// The training loop waits for samples. The same unit comes three times, since rules ignore fewer.
traces::TraceData WithUnits(const std::function<FollowedUnit(double at)>& unit,
                            const testing::Costs& costs = {0.1, 1, 12, 0.5, 0.1, 0.3, 2, 0}) {
  Synthetic run = testing::WithCosts(costs);
  run.batch_size = 1;  // a sample takes about as long as a unit
  run.cores = 2;
  traces::TraceData data = MakeSynthetic(run);
  for (const double at : {1100, 1200, 1300}) unit(at).AddTo(DataSink{data});
  return data;
}

std::function<FollowedUnit(double)> Looping(std::uint64_t count) {
  return [count](double at) {
    FollowedUnit unit(SampleOf(at, 10, 10));
    const auto item = unit.Function("Photos.__getitem__", kData, 20, {Ms(10), Ms(1)});
    const auto edges = unit.Function("make_edges", kData, 47, {Ms(9), Ms(1)}, item);
    unit.Line(edges, 52, {Ms(8), Ms(8), count});
    return unit;
  };
}

TEST(HotPythonLoopTest, NamesFunctionAndLine) {
  const auto finding = FindingOf("hot-python-loop", WithUnits(Looping(4096)));
  ASSERT_TRUE(finding.has_value() && finding->predicted.has_value());
  const std::string seen = English(finding->seen);
  EXPECT_NE(seen.find("line 52 of make_edges (dataset.py:47) runs 4096"), std::string::npos)
      << seen;
  EXPECT_GT(finding->predicted->speedup, 1.5);
}

// Augmenting takes 1 of 13.6 ms, the loop 80 % of a sample: augmenting alone would gain 1.08x.
TEST(HotPythonLoopTest, TakesMoreThanAugmentingFromTheWholeSample) {
  const auto finding =
      FindingOf("hot-python-loop", WithUnits(Looping(4096), {0.1, 12, 1, 0.5, 0.1, 0.3, 2, 0}));
  ASSERT_TRUE(finding.has_value() && finding->predicted.has_value());
  EXPECT_GT(finding->predicted->speedup, 1.5);
}

TEST(HotPythonLoopTest, IsSilentOfALineThatRunsOnce) {
  EXPECT_FALSE(FindingOf("hot-python-loop", WithUnits(Looping(1))).has_value());
}

TEST(CollateSlowTest, NamesTheFunctionThatTakesTheTime) {
  const auto collating = [](double encoding) {
    return [encoding](double at) {
      UnitRow row = SampleOf(at, 12, 12);
      row.stage = traces::StageId::kCollate;
      FollowedUnit unit(row);
      const auto collate = unit.Function("pad", kData, 60, {Ms(12), Ms(12 - encoding)});
      unit.Function("encode", kData, 40, {Ms(encoding), Ms(encoding)}, collate);
      return unit;
    };
  };
  const testing::Costs costs = {0.1, 1, 1, 12, 0.1, 0.3, 2, 0};
  const auto finding = FindingOf("collate-slow", WithUnits(collating(8), costs));
  ASSERT_TRUE(finding.has_value());
  EXPECT_NE(English(finding->seen).find("most of it in encode (dataset.py:40)"), std::string::npos);
  EXPECT_NE(English(finding->action).find("Make encode faster"), std::string::npos);
  const auto stacking = [](double at) {
    UnitRow row = SampleOf(at, 12, 12);
    row.stage = traces::StageId::kCollate;
    FollowedUnit unit(row);
    const auto join = unit.Function("join", kData, 60, {Ms(12), Ms(1)});
    unit.Builtin("torch.stack", {Ms(11), Ms(11)}, join);
    return unit;
  };
  const auto stacked = FindingOf("collate-slow", WithUnits(stacking, costs));
  ASSERT_TRUE(stacked.has_value());
  EXPECT_NE(English(stacked->seen).find("most of it in join"), std::string::npos);
  EXPECT_NE(English(stacked->action).find("stack them in one call"), std::string::npos);
  const auto plain = FindingOf("collate-slow", MakeSynthetic(testing::WithCosts(costs)));
  ASSERT_TRUE(plain.has_value());
  EXPECT_NE(English(plain->action).find("stack them in one call"), std::string::npos);
}

std::function<FollowedUnit(double)> CopyingCalls(const char* file) {
  return [file](double at) {
    FollowedUnit unit(SampleOf(at, 10, 10));
    const auto item = unit.Function("Photos.__getitem__", kData, 20, {Ms(10), Ms(4)});
    unit.Function("deepcopy", file, 128, {Ms(6), Ms(6)}, item);
    return unit;
  };
}

TEST(SlowCallTest, NamesCallAndCaller) {
  const auto finding = FindingOf("slow-call", WithUnits(CopyingCalls(kCopy)));
  ASSERT_TRUE(finding.has_value());
  EXPECT_NE(English(finding->seen).find("copy.deepcopy, called from Photos.__getitem__ (dataset"),
            std::string::npos);
}

TEST(SlowCallTest, NamesTheLineThatCalls) {
  const auto finding = FindingOf(
      "slow-call", WithUnits([](double at) {
        FollowedUnit unit(SampleOf(at, 10, 10));
        const auto item = unit.Function("Photos.__getitem__", kData, 20, {Ms(10), Ms(1)});
        unit.Line(item, 22, {Ms(6), Ms(6)});
        unit.Function("deepcopy", kCopy, 128, {Ms(3), Ms(3)}, unit.Line(item, 24, {Ms(3)}));
        return unit;
      }));
  ASSERT_TRUE(finding.has_value());
  EXPECT_NE(English(finding->seen).find("(dataset.py:20, line 24)"), std::string::npos);
}

TEST(SlowCallTest, IsSilentOfAFunctionOfTheSameName) {
  EXPECT_FALSE(FindingOf("slow-call", WithUnits(CopyingCalls("/home/a/tools.py"))).has_value());
}

TEST(FunctionReportTest, ShowsWhatALineCallsUnderTheLine) {
  const Report report =
      BuildReport(*traces::MakeTrace(WithUnits([](double at) { return Edges(at); })), "t.penstock");
  const std::vector<LineTime>& lines = report.diagnosis.functions.at(0).functions.at(0).lines;
  ASSERT_EQ(lines.size(), 1U);
  ASSERT_EQ(lines[0].called.size(), 1U);
  EXPECT_NEAR(lines[0].called[0].share, 0.2, 1e-9);
  EXPECT_NEAR(lines[0].called[0].count, 64, 1e-9);
  const std::string text = FunctionsText(report, Paint(false));
  const std::size_t line = text.find("    line 52");
  ASSERT_NE(line, std::string::npos) << text;
  EXPECT_GT(text.find("      deepcopy()", line), line) << text;
  EXPECT_EQ(text.find("deepcopy()"), text.rfind("deepcopy()")) << "not below the function, too";
}

TEST(FunctionReportTest, ShowsSourceBesideTheLine) {
  traces::TraceData data = WithUnits(Looping(4096));
  for (auto& process : data.processes) {
    process.facts["functions.spent_ns"] = "2000000";
    process.facts["functions.of_ns"] = "1600000000";
  }
  const auto trace = traces::MakeTrace(std::move(data));
  Report report = BuildReport(*trace, "t.penstock");
  ShowSources([](const std::string&, std::uint32_t) { return "    total += row[x]"; }, report);
  const std::string text = FunctionsText(report, Paint(false));
  EXPECT_NE(text.find("dataset.py:47 make_edges"), std::string::npos) << text;
  EXPECT_NE(text.find("total += row[x]"), std::string::npos) << text;
  EXPECT_NE(text.find("following them took 0.12 %"), std::string::npos) << text;
}

TEST(FunctionReportTest, SaysNothingWhereNoCallWasFollowed) {
  const Report report = BuildReport(*traces::MakeTrace(MakeSynthetic({})), "t.penstock");
  EXPECT_EQ(FunctionsText(report, Paint(false)), "");
  EXPECT_EQ(report.sources.size(), 0U);
}

}  // namespace
}  // namespace penstock::analyzer
