// SPDX-License-Identifier: Apache-2.0
//
// Plans with repairs of the program's own code, and which findings the steps answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/plan/experiments.h"
#include "analyzer/plan/step_findings.h"
#include "analyzer/plan/step_gains.h"
#include "analyzer/report/phrases.h"
#include "analyzer/report/plan_report.h"
#include "analyzer/words/plan.h"
#include "tests/analyzer/plan_cases.h"
#include "tests/analyzer/synthetic.h"
#include "tests/analyzer/synthetic_threads.h"
#include "tests/paths.h"

namespace penstock::analyzer {
namespace {

using testing::BehindBest;
using testing::Costs;
using testing::MakeSynthetic;
using testing::Planned;
using testing::Synthetic;

// Batches of one sample, of which one in 17 decodes for `slow` milliseconds.
Synthetic Uneven(double slow) {
  Synthetic run;
  run.workers = 4;
  run.batch_size = 1;
  run.batches = 400;
  run.persistent = true;
  run.costs = [=](int, int index) {
    Costs costs;
    costs.decode = index % 17 == 16 ? slow : 4;
    costs.step = 3;
    return costs;
  };
  return run;
}

// Two workers decode with Pillow. They are much slower than the step, which takes 2 ms. Further
// cores are free.
Synthetic Decoding() {
  Synthetic run;
  run.cores = 8;
  run.decoder = "PIL.load";
  run.costs = testing::Always({.read = 1, .decode = 14, .augment = 2, .collate = 0.5, .step = 2});
  return run;
}

traces::TraceData OfTorch(const Synthetic& run, const char* version) {
  traces::TraceData data = MakeSynthetic(run);
  data.facts["version.torch"] = version;
  return data;
}

Levers LeversOf(const Planned& planned) {
  return FindLevers(planned.diagnosis, planned.findings, false);
}

const Lever* LeverOf(const Levers& levers, std::string_view id) {
  for (const Lever& lever : levers.all) {
    if (lever.id == id) return &lever;
  }
  return nullptr;
}

// The rate that the simulator predicts with a single lever of the plan.
double RateWith(const Planned& planned, std::string_view id) {
  const Levers levers = LeversOf(planned);
  const LoaderDiagnosis& loader = *planned.diagnosis.loader;
  for (std::size_t i = 0; i < levers.all.size(); ++i) {
    if (levers.all[i].id != id) continue;
    const auto changed = ApplyLevers(loader.pipeline, loader, levers, LeverSet{1} << i);
    if (!changed) return 0;
    return Predict(loader.pipeline, changed->pipeline, loader.replay).rate.estimate;
  }
  return 0;
}

TEST(PlanRepairsTest, SlowSamplesAreAStepWhereTheyHoldTheRunBack) {
  const Planned planned(traces::MakeTrace(OfTorch(Uneven(120), "2.8.0+cpu")));
  const Planned even(traces::MakeTrace(OfTorch(Uneven(4), "2.8.0+cpu")));
  const double rate = even.diagnosis.loader->steady.rate.estimate;
  EXPECT_NEAR(RateWith(planned, "slow_samples") / rate, 1, 0.05);
  EXPECT_LE(BehindBest(planned), 1.1) << PlanText(planned.plan, Colour::kOff);
  // For each finding, either a step answers it, or the report says its gain on top of the plan.
  for (const Finding& finding : planned.findings) {
    if (finding.id != "slow-samples" && finding.id != "stragglers") continue;
    EXPECT_FALSE(PlaceInPlan(planned.plan, finding.id).empty()) << finding.id;
  }
}

TEST(PlanRepairsTest, InOrderIsALeverFromPyTorch26On) {
  const auto has = [](const char* version) {
    const Planned planned(traces::MakeTrace(OfTorch(Uneven(120), version)));
    return LeverOf(LeversOf(planned), "in_order") != nullptr;
  };
  EXPECT_TRUE(has("2.6.0"));
  EXPECT_TRUE(has("2.13.1+cu130"));
  EXPECT_TRUE(has("3.0"));
  EXPECT_FALSE(has("1.13.1"));
  EXPECT_FALSE(has("2.5.1+cpu"));
  EXPECT_FALSE(has(""));
  EXPECT_FALSE(has("nightly"));
}

TEST(PlanRepairsTest, BatchesAsTheyComeChangeWhatTheNetworkSees) {
  const Planned planned(traces::MakeTrace(OfTorch(Uneven(120), "2.8.0")));
  const Levers levers = LeversOf(planned);
  const Lever* lever = LeverOf(levers, "in_order");
  ASSERT_NE(lever, nullptr);
  EXPECT_FALSE(lever->risk.empty());
  EXPECT_GT(RateWith(planned, "in_order"), planned.diagnosis.loader->steady.rate.estimate);
}

Finding OfFunction(std::string id, std::string function, double left, double speedup) {
  Finding finding;
  finding.id = std::move(id);
  finding.evidence = {{"function", std::move(function)}, {"file", "set.py"}, {"call", "copy"}};
  finding.setting = Setting{};
  finding.setting->scale = {{Factor::kAugment, left}};
  finding.predicted = Prediction{};
  finding.predicted->speedup = speedup;
  return finding;
}

TEST(PlanRepairsTest, TwoFindingsOnOneFunctionAreOneRepair) {
  Planned planned(traces::MakeTrace(MakeSynthetic(Uneven(4))));
  planned.findings = {OfFunction("hot-python-loop", "get", 0.5, 1.2),
                      OfFunction("slow-call", "get", 0.3, 1.4)};
  Levers levers = LeversOf(planned);
  EXPECT_EQ(LeverOf(levers, "python_loop"), nullptr);
  ASSERT_NE(LeverOf(levers, "slow_call"), nullptr);
  EXPECT_EQ(LeverOf(levers, "slow_call")->also, "hot-python-loop");
  for (const PlanExperiment& one :
       FindExperiments(*planned.trace, planned.diagnosis, planned.findings, levers, {})) {
    EXPECT_NE(one.id, "hot-python-loop");
  }
  planned.findings[1] = OfFunction("slow-call", "other", 0.3, 1.4);
  levers = LeversOf(planned);
  EXPECT_NE(LeverOf(levers, "python_loop"), nullptr);
  EXPECT_NE(LeverOf(levers, "slow_call"), nullptr);
}

TEST(PlanRepairsTest, ARepairIsNoExperimentBesides) {
  Planned planned(traces::MakeTrace(MakeSynthetic(Uneven(4))));
  planned.findings = {OfFunction("slow-call", "get", 0.3, 1.4)};
  for (const PlanExperiment& one : FindExperiments(*planned.trace, planned.diagnosis,
                                                   planned.findings, LeversOf(planned), {})) {
    EXPECT_NE(one.id, "slow-call");
  }
  EXPECT_FALSE(
      FindExperiments(*planned.trace, planned.diagnosis, planned.findings, {}, {}).empty());
}

// With uint8, copies are shorter, so the ceiling is higher. If that step is left out, it is not.
TEST(PlanSubsetTest, TheCeilingIsThatOfTheChosenSteps) {
  Synthetic run = Decoding();
  run.costs =
      testing::Always({.read = 1, .decode = 14, .augment = 2, .collate = 0.5, .step = 2, .h2d = 6});
  traces::TraceData data = MakeSynthetic(run);
  data.processes[0].facts["loader.0.batch_types"] = "float32:602112";
  const Planned planned(traces::MakeTrace(std::move(data)));
  if (!planned.plan.other_copies) GTEST_FAIL() << planned.Ids();
  std::vector<bool> chosen;
  for (const PlanStep& step : planned.plan.steps) chosen.push_back(step.id != "transfer_u8");
  const Plan without =
      WithSteps(planned.plan, chosen, planned.diagnosis, planned.findings, PlanRequest{});
  EXPECT_FALSE(without.other_copies);
  EXPECT_NEAR(without.ceiling, planned.diagnosis.ceiling, 1e-6 * without.ceiling);
}

TEST(PlanRestTest, NamesEachFindingOnce) {
  const Planned planned(traces::MakeTrace(OfTorch(Uneven(120), "2.8.0")));
  std::vector<std::string> ids;
  for (const PlanRest& one : planned.plan.rest) ids.push_back(one.finding);
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
}

TEST(PlanLineTest, BatchesAsTheyComeAreInTheLineToPaste) {
  const auto trace = traces::MakeTrace(OfTorch(Uneven(120), "2.8.0"));
  Report report = BuildReport(*trace, "t.penstock");
  PlanStep step;
  step.id = "in_order";
  step.setting.workers = 4;
  Plan plan;
  plan.steps = {step};
  const std::string line = LineToPaste(report, plan, 0);
  EXPECT_TRUE(line.ends_with(", in_order=False)")) << line;
  plan.steps[0].id = "num_workers";
  EXPECT_EQ(LineToPaste(report, plan, 0).find("in_order"), std::string::npos);
}

// The depth of a step also counts the batch that the training loop uses, with threads or without.
TEST(PlanLineTest, AReferenceLoadersDepthLeavesOutTheBatchThatTheLoopUses) {
  testing::SyntheticThreads run;
  run.threads = 0;
  const Report report = BuildReport(*testing::ThreadsTrace(run), "t.penstock");
  PlanStep step;
  step.id = "num_workers";
  step.setting.workers = 4;
  step.setting.prefetch = 4;
  Plan plan;
  plan.steps = {step};
  EXPECT_EQ(LineToPaste(report, plan, 0), "penstock load ... --workers 4 --prefetch 3");
}

TEST(PlanLineTest, AReferenceLoaderHasNoLineForArgumentsOfPyTorch) {
  const Report report = BuildReport(*testing::ThreadsTrace({}), "t.penstock");
  PlanStep step;
  step.id = "pin_memory";
  step.setting.workers = 4;
  step.setting.prefetch = 5;  // with the batch that the loop uses
  Plan plan;
  plan.steps = {step};
  EXPECT_EQ(LineToPaste(report, plan, 0), "");
  plan.steps[0].id = "num_workers";
  EXPECT_EQ(LineToPaste(report, plan, 0), "penstock load ... --workers 4 --prefetch 4");
}

// A lever whose interval includes a gain of 0 does not keep other levers out of the plan.
TEST(PlanRepairsTest, ALeverThatIsNotSureLeavesRoomForOthers) {
  Planned planned(traces::MakeTrace(OfTorch(Uneven(120), "2.8.0")));
  ASSERT_FALSE(planned.plan.steps.empty());
  const double sure = planned.plan.end();
  Finding wide = OfFunction("slow-call", "get", 0.06, 1.4);
  wide.setting->scale = {{Factor::kDecode, 0.06}};  // with half of the saving, 53 % are left
  planned.findings.push_back(wide);
  planned.plan = BuildPlan(*planned.trace, planned.diagnosis, planned.findings, PlanRequest{});
  EXPECT_GE(planned.plan.end(), 0.95 * sure);
}

// The interval of a repair reaches from half of the saving that its rule assumes to all of it.
TEST(PlanRepairsTest, TheIntervalOfARepairHasHalfOfTheSaving) {
  Planned planned(traces::MakeTrace(MakeSynthetic(Uneven(4))));
  planned.findings = {OfFunction("slow-call", "get", 0.2, 1.4)};
  const Levers levers = LeversOf(planned);
  const Lever* lever = LeverOf(levers, "slow_call");
  ASSERT_NE(lever, nullptr);
  EXPECT_EQ(lever->unsure, Factor::kAugment);
  EXPECT_NEAR(lever->slow * 0.2, 0.6, 1e-9);
  EXPECT_EQ(lever->fast, 1);
}

TEST(StepFindingsTest, FewerWorkersAnswerOtherFindingsThanMore) {
  std::vector<Finding> findings(2);
  findings[0].id = "too-many-workers";
  findings[1].id = "too-few-workers";
  EXPECT_EQ(FindingsOfStep("num_workers", true, findings),
            std::vector<std::string>{"too-few-workers"});
  EXPECT_EQ(FindingsOfStep("num_workers", false, findings),
            std::vector<std::string>{"too-many-workers"});
  EXPECT_TRUE(FindingsOfStep("prefetch_factor", false, findings).empty());
}

TEST(PlanSubsetTest, StepsAreWithoutThoseThatAreLeftOut) {
  const Planned planned(traces::MakeTrace(MakeSynthetic(Decoding())));
  ASSERT_GE(planned.plan.steps.size(), 2u) << planned.Ids();
  const std::vector<bool> all(planned.plan.steps.size(), true);
  const Plan same =
      WithSteps(planned.plan, all, planned.diagnosis, planned.findings, PlanRequest{});
  ASSERT_EQ(same.steps.size(), planned.plan.steps.size());
  EXPECT_NEAR(same.end(), planned.plan.end(), 1e-9 * planned.plan.end());
  EXPECT_EQ(English(same.verdict), English(planned.plan.verdict));
  std::vector<bool> chosen = all;
  chosen[0] = false;
  const Plan fewer =
      WithSteps(planned.plan, chosen, planned.diagnosis, planned.findings, PlanRequest{});
  ASSERT_EQ(fewer.steps.size(), planned.plan.steps.size() - 1);
  EXPECT_EQ(fewer.steps[0].id, planned.plan.steps[1].id);
  EXPECT_LT(fewer.end(), 0.98 * planned.plan.end());
  EXPECT_NEAR(fewer.steps[0].gain, fewer.steps[0].predicted.speedup, 1e-9);
  EXPECT_EQ(fewer.verdict.message, &words::kPlanChosen);
  const Plan none = WithSteps(planned.plan, std::vector<bool>(all.size(), false), planned.diagnosis,
                              planned.findings, PlanRequest{});
  EXPECT_TRUE(none.steps.empty());
  EXPECT_EQ(English(none.verdict), "No step is chosen");
  EXPECT_EQ(none.end(), none.now.estimate);
}

TEST(PlanSubsetTest, StepsThatNeedMoreMemoryThanThereIsSaySo) {
  const Planned planned(traces::MakeTrace(MakeSynthetic(Decoding())));
  ASSERT_GE(planned.plan.steps.size(), 2u) << planned.Ids();
  std::vector<bool> chosen(planned.plan.steps.size(), false);
  std::size_t workers = planned.plan.steps.size();
  for (std::size_t i = 0; i < planned.plan.steps.size(); ++i) {
    if (planned.plan.steps[i].id == "num_workers") workers = i;
  }
  ASSERT_LT(workers, planned.plan.steps.size()) << planned.Ids();
  chosen[workers] = true;
  PlanRequest tight;
  tight.budget_ram = 1;
  const Plan none = WithSteps(planned.plan, chosen, planned.diagnosis, planned.findings, tight);
  EXPECT_EQ(none.verdict.message, &words::kPlanChosenNoRoom);
  const Plan fits =
      WithSteps(planned.plan, chosen, planned.diagnosis, planned.findings, PlanRequest{});
  EXPECT_EQ(fits.verdict.message, &words::kPlanChosen);
}

// Recordings of two workers on two cores, each with a pool of 4, 8 or 16 threads. With one thread
// each, the run was measured to be 1.17, 1.37 and 1.68 times as fast.
TEST(RecordedPoolsTest, AreNamedWhereTheyCompeteForCores) {
  const auto found = [](const std::string& name) {
    auto trace = traces::OpenTrace(std::string(paths::kRecordings) + "/" + name);
    EXPECT_TRUE(trace) << name;
    const Planned planned(std::move(*trace));
    for (const Finding& finding : planned.findings) {
      if (finding.id == "cpu-oversubscribed") return true;
    }
    return false;
  };
  for (const char* name : {"b-F13-1.penstock", "b-F13-2.penstock", "b-F13-3.penstock"}) {
    EXPECT_TRUE(found(name)) << name;
  }
  // Recordings in which no pools compete: workers that compete with each other, a loop that
  // computes, and workers that wait.
  for (const char* name : {"b-F4-3.penstock", "b-F14-3.penstock", "b-F18-2.penstock",
                           "b-F12-3.penstock", "a-sleeping_constant-w4_p4_s0.penstock"}) {
    EXPECT_FALSE(found(name)) << name;
  }
}

// Fewer workers cost 5 %, and make room for a cache that then gains 10 %.
TEST(StepGainsTest, AStepThatOnlyMakesUpForTheOneBeforeItGainsNothing) {
  Prediction both;
  both.speedup = 1.045;
  both.rate = {104.5, 104.5 * 0.92, 104.5 * 1.08};
  EXPECT_TRUE(Gains(both.speedup / 0.95, both));
  EXPECT_FALSE(GainsTogether(1, 0.95, both));
  both.speedup = 1.2;
  EXPECT_TRUE(GainsTogether(1, 0.95, both));
  EXPECT_FALSE(GainsTogether(1, 1.15, both));  // the step before it gains nearly all of the 20 %
}

// What-if predicts other numbers of workers on a crowded machine, under an assumption. So
// suggestion and plan say that they leave these numbers out, not that nothing can be predicted.
TEST(PlanCrowdedTest, SaysThatOtherNumbersOfWorkersWereLeftOut) {
  testing::Synthetic run;
  run.cores = 2;
  run.cpu_share = 0.45;
  run.costs = testing::Always({0.5, 20, 10, 1, 0.1, 0.2, 2, 0});
  const testing::Planned planned(testing::SyntheticTrace(run));
  ASSERT_TRUE(planned.diagnosis.loader->pipeline.crowded);
  ASSERT_TRUE(planned.plan.steps.empty()) << planned.Ids();
  const std::string verdict = English(planned.plan.verdict);
  EXPECT_NE(verdict.find("other numbers of workers were left out"), std::string::npos) << verdict;
  const Report report = BuildReport(*testing::SyntheticTrace(run), "t");
  const std::string kept = English(Keep(report));
  EXPECT_NE(kept.find("predictions assume that they go on"), std::string::npos) << kept;
}

// The training step takes longer than any one part of the data path, but the last two steps of the
// plan still gain.
TEST(StepGainsTest, TheTrainingStepIsNoLimitThatLaterStepsPass) {
  Attribution limits;
  limits.bottleneck = Factor::kCompute;
  limits.gains = {{Factor::kCompute, 1.8}, {Factor::kDecode, 1.3}, {Factor::kAugment, 1.2}};
  std::vector<PlanStep> steps(3);
  steps[0].predicted.speedup = 4.26;
  steps[1].predicted.speedup = 5.16;
  steps[2].predicted.speedup = 5.2;
  NameLimits({limits, limits, limits}, 5.3, steps);
  EXPECT_EQ(steps[0].limited_by, Factor::kDecode);
  EXPECT_EQ(steps[1].limited_by, Factor::kCompute);
  EXPECT_EQ(steps[2].limited_by, Factor::kCompute);
  NameLimits({limits, limits, limits}, 5.6, steps);  // the step takes 13/14 of the loop
  EXPECT_EQ(steps[2].limited_by, Factor::kCompute);
  NameLimits({limits, limits, limits}, 6, steps);  // data that cost nothing would still gain 15 %
  EXPECT_EQ(steps[2].limited_by, Factor::kDecode);
  EXPECT_EQ(steps[2].also_limits, Factor::kNone);
}

// Two parts would gain the same within noise, so that neither alone is the limit.
TEST(StepGainsTest, TwoPartsThatGainAlikeBothLimitTheRun) {
  Attribution limits;
  limits.bottleneck = Factor::kAugment;
  limits.headroom = 3.8;
  limits.gains = {{Factor::kAugment, 1.634}, {Factor::kDecode, 1.632}, {Factor::kRead, 1.01}};
  std::vector<PlanStep> steps(1);
  steps[0].predicted.speedup = 1.2;
  NameLimits({limits}, 4.5, steps);
  EXPECT_EQ(steps[0].limited_by, Factor::kAugment);
  EXPECT_EQ(steps[0].also_limits, Factor::kDecode);
  EXPECT_EQ(English(LimitAfter(steps[0])), "then limited by augment and decode alike");
}

}  // namespace
}  // namespace penstock::analyzer
