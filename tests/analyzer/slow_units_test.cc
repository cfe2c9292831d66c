// SPDX-License-Identifier: Apache-2.0
//
// Samples whose calls were followed on purpose, because they were slow in an earlier epoch. Tests
// what takes more time in them, and that they count in no other figure.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/model/functions.h"
#include "tests/analyzer/finds.h"
#include "tests/traces/call_tree_maker.h"

namespace penstock::analyzer {
namespace {

using testing::Ms;
using traces::UnitRow;
using traces::testing::DataOf;
using traces::testing::FollowedUnit;

constexpr const char* kSlowData = "/home/a/dataset.py";

struct SlowKind {
  double load = 2;  // milliseconds in line 52 of load(); the rest of the sample takes 8 ms
  bool chosen = false;
  bool lined = false;
};

FollowedUnit SlowUnit(int number, const SlowKind& kind) {
  UnitRow row;
  row.at = Ms(1100 + 5 * number);
  row.duration = Ms(8 + kind.load);
  row.ordinary = kind.chosen ? TimeNs{} : Ms(10);
  row.neighbours = kind.chosen ? 0 : 8;
  row.stage = traces::StageId::kSample;
  row.flags = kind.chosen ? wire::kUnitChosen : 0;
  FollowedUnit unit(row);
  const auto item = unit.Function("Photos.__getitem__", kSlowData, 20, {row.duration, Ms(8)});
  const TimeNs load = Ms(kind.load);
  const auto function =
      unit.Function("load", kSlowData, 50, {load, kind.lined ? TimeNs{} : load}, item);
  if (kind.lined) unit.Line(function, 52, {load, load, 1});
  return unit;
}

std::vector<FollowedUnit> SlowSamplesOf(const std::vector<SlowKind>& kinds) {
  std::vector<FollowedUnit> units;
  for (const SlowKind& kind : kinds)
    units.push_back(SlowUnit(static_cast<int>(units.size()), kind));
  return units;
}

constexpr SlowKind kDrawn{};
constexpr SlowKind kDrawnLined{.lined = true};
constexpr SlowKind kChosen{.load = 41, .chosen = true};
constexpr SlowKind kChosenLined{.load = 41, .chosen = true, .lined = true};

FunctionProfile ProfileFrom(const std::vector<SlowKind>& kinds, const StageTable& stages = {}) {
  traces::TraceData data = testing::MakeSynthetic({});
  for (const FollowedUnit& unit : SlowSamplesOf(kinds)) unit.AddTo(DataOf{data});
  return ProfileFunctions(*traces::MakeTrace(std::move(data)), stages).at(0);
}

const std::vector<SlowKind> kSome = {kDrawn,  kDrawn,  kDrawn,  kDrawn,      kDrawnLined,
                                     kChosen, kChosen, kChosen, kChosenLined};

TEST(ChosenSamplesTest, NameTheLineThatTakesMoreInSlowOnes) {
  const SlowUnits slow = ProfileFrom(kSome).slow;
  EXPECT_EQ(slow.units, 4U);
  EXPECT_EQ(slow.others, 5U);
  EXPECT_NEAR(slow.slow_time, 0.049, 1e-9);
  ASSERT_EQ(slow.functions.size(), 1U);
  EXPECT_EQ(slow.functions[0].name, "load");
  ASSERT_EQ(slow.functions[0].lines.size(), 1U);
  EXPECT_EQ(slow.functions[0].lines[0].line, 52U);
  EXPECT_NEAR(slow.functions[0].lines[0].slow, 0.041, 1e-9);
  EXPECT_NEAR(slow.functions[0].lines[0].others, 0.002, 1e-9);
  ASSERT_EQ(slow.paths.size(), 2U);
  EXPECT_NEAR(slow.paths[1].total, 41.0 / 49, 1e-9);
}

TEST(ChosenSamplesTest, CountInNoShareOfTheOthers) {
  const FunctionProfile with = ProfileFrom(kSome);
  const FunctionProfile without = ProfileFrom({kDrawn, kDrawn, kDrawn, kDrawn, kDrawnLined});
  EXPECT_EQ(with.units, without.units);
  EXPECT_NEAR(with.unit_time, 0.010, 1e-9);
  ASSERT_EQ(with.functions.size(), without.functions.size());
  for (std::size_t i = 0; i < with.functions.size(); ++i) {
    EXPECT_NEAR(with.functions[i].share, without.functions[i].share, 1e-9);
  }
}

// The followed samples take 10 ms each.
TEST(UnusualUnitsTest, TookMuchLongerThanAll) {
  const auto profile = [](double mean) {
    StageTable stages;
    for (int i = 0; i < 100; ++i) stages[traces::StageId::kSample].Add(Ms(mean).value, -1, 0);
    return ProfileFrom({kDrawn, kDrawn, kDrawn, kDrawn}, stages);
  };
  EXPECT_NEAR(profile(4).mean_time, 0.004, 1e-9);
  EXPECT_TRUE(profile(4).IsUnusual());
  EXPECT_FALSE(profile(8).IsUnusual());
  EXPECT_FALSE(ProfileFrom({kDrawn}).IsUnusual()) << "the mean is not known";
}

// Two samples in a hundred take half of the time of all samples.
TEST(RareSamplesTest, CountWithTheirPartOfTheTime) {
  StageTable stages;
  for (int i = 0; i < 100; ++i) {
    stages[traces::StageId::kSample].Add(Ms(i < 98 ? 10 : 490).value, -1, 0);
  }
  std::vector<SlowKind> kinds = {kDrawn, kDrawn, kDrawn, kDrawn};
  const FunctionProfile without = ProfileFrom(kinds, stages);
  EXPECT_EQ(without.functions.at(1).name, "load");
  EXPECT_NEAR(without.functions[1].share, 0.1, 1e-9) << "no slow sample was followed";
  EXPECT_NEAR(without.paths.at(0).total, 0.5, 1e-9);
  EXPECT_EQ(without.units, 4U);
  EXPECT_NEAR(ProfileFrom({kDrawn, kDrawn}, stages).functions.at(1).share, 0.2, 1e-9)
      << "two units are not split into slow ones and others";
  kinds.push_back({.load = 392});
  const FunctionProfile with = ProfileFrom(kinds, stages);
  EXPECT_EQ(with.functions.at(0).name, "load");
  EXPECT_NEAR(with.functions[0].share, 0.5 * 0.2 + 0.5 * 0.98, 1e-9);
  EXPECT_NEAR(with.paths.at(1).total, 0.59, 1e-9);
  EXPECT_NEAR(with.functions[0].count, 1, 1e-9);
  EXPECT_EQ(with.units, 5U);
  EXPECT_NEAR(ProfileFrom(kinds).functions.at(1).share, 0.2, 1e-9) << "no rare samples in the run";
}

TEST(ChosenSamplesTest, AreLeftOutWhereTheyAreNotSlowThisTime) {
  std::vector<SlowKind> kinds = kSome;
  kinds.push_back({.load = 3, .chosen = true});
  EXPECT_EQ(ProfileFrom(kinds).slow.units, 4U);
  EXPECT_EQ(ProfileFrom(kinds).slow.others, 5U);
  EXPECT_EQ(ProfileFrom({kDrawn, kDrawn, kDrawn, kDrawn, kChosen, kChosen}).slow.units, 0U)
      << "two are too few";
  EXPECT_EQ(ProfileFrom({kDrawn, kDrawn, kDrawn, kChosen, kChosen, kChosen}).slow.units, 0U)
      << "three others are too few";
}

TEST(ChosenSamplesTest, SayNoLineWhereTheOthersHaveNone) {
  const SlowUnits slow =
      ProfileFrom({kDrawn, kDrawn, kDrawn, kDrawn, kChosen, kChosen, kChosen, kChosenLined}).slow;
  ASSERT_EQ(slow.functions.size(), 1U);
  EXPECT_TRUE(slow.functions[0].lines.empty());
}

TEST(ChosenSamplesTest, AreWhatTheFindingSaysOfSlowSamples) {
  testing::Synthetic run;
  run.workers = 4;
  run.batch_size = 1;
  run.batches = 400;
  run.costs = [](int, int index) {
    testing::Costs costs;
    costs.decode = index % 17 == 16 ? 120 : 4;
    costs.step = 3;
    return costs;
  };
  traces::TraceData data = testing::MakeSynthetic(run);
  for (const FollowedUnit& unit : SlowSamplesOf(kSome)) unit.AddTo(DataOf{data});
  const auto finding = testing::FindingOf("slow-samples", std::move(data));
  ASSERT_TRUE(finding);
  const std::string seen = English(finding->seen);
  EXPECT_NE(seen.find("line 52 of load (dataset.py:50) takes 41.0 ms in a slow sample and 2.00 ms "
                      "in others"),
            std::string::npos)
      << seen;
  const std::string chinese = Render(finding->seen, Language::kChinese);
  EXPECT_NE(chinese.find("load（dataset.py:50）的第 52 行在慢样本中耗时 41.0 ms"),
            std::string::npos)
      << chinese;
}

}  // namespace
}  // namespace penstock::analyzer
