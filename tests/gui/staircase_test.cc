// SPDX-License-Identifier: Apache-2.0
#include "gui/model/staircase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/report/plan_report.h"
#include "analyzer/words/plan.h"
#include "tests/analyzer/synthetic.h"
#include "tests/gui/panels_support.h"

namespace penstock::gui {
namespace {

using analyzer::testing::Always;
using analyzer::testing::Synthetic;
using analyzer::testing::SyntheticTrace;

analyzer::Report Planned() {
  Synthetic run;
  run.costs = Always({.decode = 30, .step = 2});
  return analyzer::BuildReport(*SyntheticTrace(run), "t.penstock");
}

TEST(StaircaseTest, LeadsFromTheRunAsItIsToTheTrainingStepAlone) {
  const analyzer::Report report = Planned();
  ASSERT_FALSE(report.plan.steps.empty());
  const Staircase stairs = StaircaseOf(report, Language::kEnglish);
  ASSERT_EQ(stairs.stairs.size(), report.plan.steps.size() + 2);
  EXPECT_TRUE(stairs.has_steps());
  EXPECT_EQ(stairs.stairs.front().kind, StairKind::kNow);
  EXPECT_EQ(stairs.stairs.front().rate.estimate, report.plan.now.estimate);
  EXPECT_EQ(stairs.stairs.back().kind, StairKind::kCeiling);
  EXPECT_EQ(stairs.stairs.back().rate.estimate, report.plan.ceiling);
}

// "The training step alone: 695 samples/s" stood above steps of 74.4 ms for 64 samples (860 a
// second): the simulation lets the other programs go on.
TEST(StaircaseTest, TheStepAloneSaysWhatItIncludes) {
  analyzer::Report report = Planned();
  const auto said = [&] { return StaircaseOf(report, Language::kEnglish).stairs.back().limit; };
  EXPECT_EQ(said(), "");
  report.diagnosis.loader->pipeline.others = 2.5;
  EXPECT_EQ(said(), "other programs go on");
  report.diagnosis.ranks.rows.resize(2);
  report.diagnosis.ranks.imbalance.together = true;
  EXPECT_EQ(said(), "other programs go on  ·  with its waiting for ranks");
  report.diagnosis.loader->pipeline.others = 0;
  EXPECT_EQ(said(), "with its waiting for ranks");
  const auto times = [&] { return StaircaseOf(report, Language::kEnglish).stairs.back().times; };
  EXPECT_EQ(times().rfind("≥", 0), std::string::npos);
  report.diagnosis.ranks.imbalance.loop = 10;
  report.diagnosis.ranks.imbalance.cost = 3;
  EXPECT_EQ(times().rfind("≥", 0), 0U) << "data that cost nothing would shorten that waiting too";
}

// The copies to the device are a little shorter after the plan than recorded, which would raise the
// plan's ceiling by a little. The plan still shows the ceiling that the card beside it shows.
TEST(StaircaseTest, PlanAndDiagnosisShowTheSameCeiling) {
  const auto trace = traces::MakeTrace(testing::MakeGpuRun({}));
  const analyzer::Report report = analyzer::BuildReport(*trace, "t.penstock");
  EXPECT_EQ(report.plan.ceiling, report.diagnosis.ceiling);
  EXPECT_LE(report.plan.end(), report.plan.ceiling);
}

// Six workers gain as much as decoding on the GPU, within 2 %.
TEST(StaircaseTest, AOneLineChangeComesBeforeALongOneThatGainsNoMore) {
  const auto trace = traces::MakeTrace(testing::MakeGpuRun({}));
  const analyzer::Report report = analyzer::BuildReport(*trace, "t.penstock");
  ASSERT_FALSE(report.plan.steps.empty());
  EXPECT_EQ(report.plan.steps.front().id, "num_workers");
}

TEST(StaircaseTest, AStepSaysChangeRateUnitIntervalAndWhatLimitsThen) {
  const analyzer::Report report = Planned();
  const Stair step = StaircaseOf(report, Language::kEnglish).stairs[1];
  EXPECT_EQ(step.title, "1. num_workers=8 instead of 2");
  EXPECT_TRUE(step.figure.ends_with(" samples/s")) << step.figure;
  EXPECT_TRUE(step.interval.ends_with("(90 %)")) << step.interval;
  EXPECT_EQ(step.limit, "then limited by decode");
  EXPECT_TRUE(step.cost.starts_with("cost: ")) << step.cost;
  EXPECT_TRUE(step.times.ends_with("x")) << step.times;
  EXPECT_TRUE(step.gains);
}

TEST(StaircaseTest, TwoPartsThatGainAlikeAreBothNamed) {
  analyzer::Report report = Planned();
  report.plan.steps[0].also_limits = analyzer::Factor::kAugment;
  EXPECT_EQ(StaircaseOf(report, Language::kEnglish).stairs[1].limit,
            "then limited by decode and augment alike");
  EXPECT_EQ(StaircaseOf(report, Language::kChinese).stairs[1].limit,
            "之后受限于解码与增强（相当）");
}

TEST(StaircaseTest, WhatAStepChangesForTheNetworkIsNotOnlyAmongItsNotes) {
  analyzer::Report report = Planned();
  report.plan.steps[0].risk = analyzer::Say<analyzer::words::kRiskDecoder>();
  EXPECT_EQ(StaircaseOf(report, Language::kEnglish).stairs[1].risk,
            "Changes what the network sees: pixels differ by a few levels");
  EXPECT_EQ(StaircaseOf(report, Language::kChinese).stairs[1].risk,
            "会改变网络的输入：像素值相差几个灰度级");
}

// Two workers before and after the step.
TEST(StaircaseTest, ACostNamesOnlyWhatChanges) {
  analyzer::Report report = Planned();
  analyzer::PlanCost& cost = report.plan.steps[0].cost;
  cost = {.ram = 412'000'000, .workers = 2, .lines = 5};
  const auto said = [&] { return StaircaseOf(report, Language::kEnglish).stairs[1].cost; };
  EXPECT_EQ(said(), "cost: about 5 lines of code, 2 workers, RAM 412 MB for workers and batches");
  cost.other_workers = false;
  EXPECT_EQ(said(), "cost: about 5 lines of code, RAM 412 MB for workers and batches");
  cost.ram_before = 500'000'000;
  EXPECT_EQ(said(),
            "cost: about 5 lines of code, RAM 412 MB instead of 500 MB for workers and batches");
  EXPECT_EQ(StaircaseOf(report, Language::kChinese).stairs[1].cost,
            "代价：约 5 行代码，工作进程和批次的内存 412 MB（原为 500 MB）");
  cost.ram_before = 0;
  cost.cached = true;
  EXPECT_EQ(said(),
            "cost: about 5 lines of code, RAM 412 MB for workers, batches and the data set");
  cost.other_ram = false;
  EXPECT_EQ(said(), "cost: about 5 lines of code, workers and memory stay");
}

TEST(StaircaseTest, AStepThatIsLeftOutHasNoRateAndTheOthersKeepTheirNumbers) {
  Synthetic run;
  run.cores = 8;
  run.decoder = "PIL.load";
  run.costs = Always({.read = 1, .decode = 14, .augment = 2, .collate = 0.5, .step = 2});
  const analyzer::Report report = analyzer::BuildReport(*SyntheticTrace(run), "t.penstock");
  const std::size_t count = report.plan.steps.size();
  ASSERT_GE(count, 2u);
  std::vector<bool> on(count, true);
  on[0] = false;
  const analyzer::Plan fewer =
      WithSteps(report.plan, on, report.diagnosis, report.findings, analyzer::PlanRequest{});
  std::vector<bool> off(count, false);
  off[0] = true;
  const Staircase stairs = StaircaseOf(report, {off, fewer}, Language::kEnglish);
  ASSERT_EQ(stairs.stairs.size(), count + 2);
  EXPECT_TRUE(stairs.stairs[1].off);
  EXPECT_EQ(stairs.stairs[1].limit, "left out");
  EXPECT_EQ(stairs.stairs[1].figure, "");
  EXPECT_EQ(stairs.stairs[1].code, "");
  EXPECT_FALSE(stairs.stairs[2].off);
  EXPECT_TRUE(stairs.stairs[2].title.starts_with("2. ")) << stairs.stairs[2].title;
  EXPECT_EQ(stairs.stairs[2].rate.estimate, fewer.steps[0].predicted.rate.estimate);
}

TEST(StaircaseTest, EverythingIsSaidInChinese) {
  const Staircase stairs = StaircaseOf(Planned(), Language::kChinese);
  for (const Stair& stair : stairs.stairs) {
    const std::string said = stair.title + stair.limit + stair.cost;
    for (const char* english : {"limited", "instead", "cost", "decode", "step alone"}) {
      EXPECT_EQ(said.find(english), std::string::npos) << said;
    }
  }
  EXPECT_EQ(stairs.stairs[1].limit, "之后受限于解码");
}

TEST(StaircaseTest, AChangeOfTheLoaderHasItsLineToPaste) {
  const analyzer::Report report = Planned();
  ASSERT_EQ(report.plan.steps[0].id, "num_workers");
  EXPECT_EQ(LineToPaste(report, report.plan, 0),
            "DataLoader(dataset, batch_size=4, num_workers=8, prefetch_factor=2)");
}

TEST(StaircaseTest, ALineHasTheChangesBeforeItToo) {
  analyzer::Report report = Planned();
  analyzer::PlanStep pin = report.plan.steps[0];
  pin.id = "pin_memory";
  report.plan.steps.insert(report.plan.steps.begin(), pin);
  EXPECT_EQ(LineToPaste(report, report.plan, 1),
            "DataLoader(dataset, batch_size=4, num_workers=8, prefetch_factor=2, pin_memory=True)");
}

TEST(StaircaseTest, AnAllocatorsLineIsTheCommandWithItsVariables) {
  analyzer::Report report = Planned();
  report.command = "python train.py";
  analyzer::PlanStep& step = report.plan.steps[0];
  step.id = "malloc";
  step.change = analyzer::Say<analyzer::words::kPlanMalloc>(
      analyzer::Give<"pillow">(true), analyzer::GiveIf<"allocator">(false, std::string()));
  EXPECT_EQ(LineToPaste(report, report.plan, 0), "PILLOW_BLOCKS_MAX=16 python train.py");
}

TEST(StaircaseTest, AChangeOfTheProgramHasNoLineToPaste) {
  analyzer::Report report = Planned();
  report.plan.steps[0].id = "store_once";
  EXPECT_EQ(LineToPaste(report, report.plan, 0), "");
}

TEST(StaircaseTest, AGainWithinItsConfidenceIntervalIsNotGreen) {
  analyzer::Report report = Planned();
  analyzer::PlanStep& step = report.plan.steps[0];
  step.predicted.rate.low = report.plan.now.estimate * 0.99;
  EXPECT_FALSE(StaircaseOf(report, Language::kEnglish).stairs[1].gains);
  // The low end of the interval lies above the rate of the run as it is. With a gain of 1.04 it
  // lies below the rate before the step (0.95 x 1.04 < 1), with a gain of 1.06 above it.
  step.predicted.rate.low = step.predicted.rate.estimate * 0.95;
  step.gain = 1.04;
  EXPECT_FALSE(StaircaseOf(report, Language::kEnglish).stairs[1].gains);
  step.gain = 1.06;
  EXPECT_TRUE(StaircaseOf(report, Language::kEnglish).stairs[1].gains);
  // Without a confidence interval no gain is sure.
  step.predicted.rate.low = step.predicted.rate.high = 0;
  EXPECT_FALSE(StaircaseOf(report, Language::kEnglish).stairs[1].gains);
}

TEST(StaircaseTest, AStepThatGainsOnlyTogetherWithTheNextIsNotGreenAndSaysSo) {
  analyzer::Report report = Planned();
  report.plan.steps[0].with_next = true;
  const Stair step = StaircaseOf(report, Language::kEnglish).stairs[1];
  EXPECT_FALSE(step.gains);
  EXPECT_EQ(step.limit, "gains only together with the next step");
}

TEST(StaircaseTest, ALimitFarAboveAllStepsDoesNotMakeThemAlike) {
  analyzer::Report report = Planned();
  report.plan.ceiling = 100 * report.plan.end();
  EXPECT_LE(StaircaseOf(report, Language::kEnglish).shown, 2 * report.plan.end());
  report.plan.ceiling = 2.13 * report.plan.end();
  EXPECT_DOUBLE_EQ(StaircaseOf(report, Language::kEnglish).shown, report.plan.ceiling)
      << "a ceiling of at most 4 times the end of the plan is not cut";
  report.plan.no_ceiling = true;
  const Staircase open = StaircaseOf(report, Language::kEnglish);
  EXPECT_TRUE(std::none_of(open.stairs.begin(), open.stairs.end(),
                           [](const Stair& stair) { return stair.kind == StairKind::kCeiling; }));
}

TEST(StaircaseTest, WithoutAPlanItSaysWhyInOneSentence) {
  const analyzer::Report report =
      analyzer::BuildReport(*SyntheticTrace(Synthetic{.batches = 6}), "t.penstock");
  for (const Language language : {Language::kEnglish, Language::kChinese}) {
    const Staircase none = StaircaseOf(report, language);
    EXPECT_TRUE(none.stairs.empty());
    EXPECT_FALSE(none.has_steps());
    EXPECT_FALSE(none.missing.empty());
    EXPECT_EQ(none.missing.find('\n'), std::string::npos);
  }
  EXPECT_TRUE(StaircaseOf(report, Language::kEnglish).missing.starts_with("No plan. "));
}

}  // namespace
}  // namespace penstock::gui
