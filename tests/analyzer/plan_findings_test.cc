// SPDX-License-Identifier: Apache-2.0
//
// What a plan and the findings that it answers say of each other.
#include <gtest/gtest.h>

#include "analyzer/diagnosis/base.h"
#include "analyzer/plan/step_findings.h"
#include "analyzer/report/plan_report.h"
#include "analyzer/report/report.h"
#include "analyzer/words/verdict.h"
#include "tests/analyzer/synthetic.h"

namespace penstock::analyzer {
namespace {

TEST(PlanPlaceTest, SaysTheStepOrTheGainOnTop) {
  Plan plan;
  EXPECT_TRUE(PlaceInPlan(plan, "slow-samples").empty());
  plan.steps.resize(2);
  plan.steps[1].findings = {"slow-samples"};
  plan.steps[1].predicted.rate.estimate = 218;
  plan.steps[1].predicted.speedup = 2.94;
  plan.unit = Say<words::kSamplesPerSecond>();
  plan.rest = {{"slow-decoder", 1.07, 0.1}, {"stragglers", 1.0}};
  EXPECT_EQ(English(PlaceInPlan(plan, "slow-samples")),
            "Step 2 of the plan answers this: with the steps up to it the run reaches 218 "
            "samples/s (2.94x)");
  EXPECT_EQ(English(PlaceInPlan(plan, "slow-decoder")),
            "The plan leaves it out: on top of its steps it would gain 7 % more, but the "
            "prediction may be off by 10 %");
  EXPECT_EQ(English(PlaceInPlan(plan, "stragglers")),
            "The plan leaves it out: on top of its steps it would gain nothing");
  EXPECT_EQ(Render(PlaceInPlan(plan, "slow-decoder"), Language::kChinese),
            "计划未列入此项：完成计划各步后，预计还可再提高 7 %，而该预测的误差可达 10 %");
  plan.left = {{"normalize-on-cpu", false}, {"slow-call", true}};
  EXPECT_EQ(English(PlaceInPlan(plan, "normalize-on-cpu")),
            "The plan leaves it out: the trace does not tell what it gains together with other "
            "changes; make it and record again");
  EXPECT_EQ(English(PlaceInPlan(plan, "slow-call")),
            "The plan leaves it out: its steps do the same or rule it out");
  plan.steps[1].id = "stored_size";
  plan.steps[1].findings = {"decode-larger-than-needed"};
  EXPECT_EQ(
      English(PlaceInPlan(plan, "decode-larger-than-needed")),
      "Step 2 of the plan is a stronger form of this: with the steps up to it the run reaches "
      "218 samples/s (2.94x)");
  plan.steps.clear();
  EXPECT_EQ(English(PlaceInPlan(plan, "slow-decoder")),
            "The plan leaves it out: by itself it would gain 7 %, but the prediction may be off by "
            "10 %");
}

Finding Gaining(const char* id) {
  Finding finding;
  finding.id = id;
  finding.predicted.emplace();
  finding.predicted->speedup = 1.14;
  return finding;
}

TEST(PlanPlaceTest, NoFindingWithAGainIsLeftWithoutAReason) {
  const std::vector<Finding> findings = {Gaining("hot-python-loop"), Gaining("slow-call"),
                                         Gaining("normalize-on-cpu"), Gaining("too-few-workers")};
  Levers levers;
  levers.all.push_back({.id = "python_loop", .also = "slow-call"});
  levers.excludes.push_back(0);
  EXPECT_EQ(RemediedBy(levers.all.front(), findings),
            (std::vector<std::string>{"hot-python-loop", "slow-call"}));
  Plan plan;
  plan.rest = {{"hot-python-loop", 1.0}};
  const std::vector<PlanLeft> left = FindingsLeftBy(plan, {}, findings, levers, 1);
  ASSERT_EQ(left.size(), 2U);
  EXPECT_EQ(left[0].finding, "slow-call");
  EXPECT_TRUE(left[0].excluded);
  EXPECT_EQ(left[1].finding, "normalize-on-cpu");
  EXPECT_FALSE(left[1].excluded);
  EXPECT_FALSE(left[1].remedied);
  // A remedy that fits beside the plan's steps, but has no prediction on top of them.
  const std::vector<PlanLeft> apart = FindingsLeftBy(plan, {}, findings, levers, 0);
  ASSERT_EQ(apart.size(), 2U);
  EXPECT_FALSE(apart[0].excluded);
  EXPECT_TRUE(apart[0].remedied);
}

// The plan widens the interval of a decoder by what is published of its speed.
TEST(PlanFindingsTest, OneChangeHasOneInterval) {
  testing::Synthetic run;
  run.cores = 2;
  run.decoder = "PIL.load";
  run.costs = testing::Always({.read = 1, .decode = 14, .augment = 2, .collate = 0.5, .step = 2});
  const Report report = BuildReport(*testing::SyntheticTrace(run), "t.penstock");
  ASSERT_FALSE(report.plan.steps.empty());
  const PlanStep& first = report.plan.steps.front();
  ASSERT_EQ(first.id, "decoder");
  const Interval& rate = first.predicted.rate;
  const auto expect_same = [&](const Prediction& predicted) {
    const Interval told = OnBase(report.diagnosis, predicted).rate;
    EXPECT_NEAR(told.estimate, rate.estimate, 1e-6 * rate.estimate);
    EXPECT_NEAR(told.low, rate.low, 1e-6 * rate.low);
    EXPECT_NEAR(told.high, rate.high, 1e-6 * rate.high);
  };
  int compared = 0;
  for (const Finding& finding : report.findings) {
    if (finding.id != "slow-decoder" || !finding.predicted) continue;
    expect_same(*finding.predicted);
    ++compared;
  }
  for (const TriedChange& change : report.changes) {
    if (change.option != "--decoder simplejpeg") continue;
    expect_same(change.predicted);
    ++compared;
  }
  EXPECT_GT(compared, 0);
}

}  // namespace
}  // namespace penstock::analyzer
