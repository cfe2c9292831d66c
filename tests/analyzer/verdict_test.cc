// SPDX-License-Identifier: Apache-2.0
//
// The bottleneck of synthetic runs. Their true bottleneck is known.
#include <random>

#include <gtest/gtest.h>

#include "analyzer/diagnosis/base.h"
#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/diagnosis/summary.h"
#include "analyzer/report/report.h"
#include "analyzer/words/format.h"
#include "tests/analyzer/synthetic.h"
#include "traces/trace_builder.h"

namespace penstock::analyzer {
namespace {

using testing::Always;
using testing::Costs;
using testing::Synthetic;
using testing::SyntheticTrace;

Diagnosis RunDiagnosisOf(const Synthetic& run) {
  return Diagnose(*SyntheticTrace(run));
}

std::string Named(const Diagnosis& diagnosis) {
  return std::string(FactorName(diagnosis.bottleneck));
}

Costs CostsWith(double Costs::*part, double value) {
  Costs costs;
  costs.*part = value;
  return costs;
}

void ExpectFaithfulReplay(const Diagnosis& diagnosis) {
  ASSERT_TRUE(diagnosis.loader);
  EXPECT_LT(std::abs(diagnosis.loader->replay.error()), 0.03) << English(diagnosis.summary);
}

struct Case {
  double Costs::*part;
  double cost;
  const char* name;
};

TEST(VerdictTest, TellsASingleWaitThatIsMuchOfTheTime) {
  Synthetic run;
  run.workers = 1;
  run.batches = 80;
  run.costs = [](int, int index) {
    Costs costs = CostsWith(&Costs::augment, 20);
    if (index == 50) costs.augment = 1500;
    return costs;
  };
  const std::string said = English(RunDiagnosisOf(run).summary);
  EXPECT_NE(said.find("; a single wait for a batch lasts "), std::string::npos) << said;
  run.costs = [](int, int index) { return CostsWith(&Costs::augment, index == 50 ? 5000 : 20); };
  const Diagnosis most = RunDiagnosisOf(run);
  EXPECT_TRUE(English(NotEnough(most)).starts_with("not enough: a single wait for a batch lasts "));
  EXPECT_FALSE(most.loader->suggestion.missing.empty());
  run.costs = Always(CostsWith(&Costs::augment, 20));
  EXPECT_EQ(English(RunDiagnosisOf(run).summary).find("single wait"), std::string::npos);
}

class StageTest : public ::testing::TestWithParam<std::tuple<Case, int>> {};

TEST_P(StageTest, NamesTheExpensiveStage) {
  const auto& [which, workers] = GetParam();
  Synthetic run;
  run.workers = workers;
  run.costs = Always(CostsWith(which.part, which.cost));
  const Diagnosis diagnosis = RunDiagnosisOf(run);
  EXPECT_EQ(Named(diagnosis), which.name) << English(diagnosis.summary);
  EXPECT_GT(diagnosis.confidence, 0.5) << English(diagnosis.summary);
  ExpectFaithfulReplay(diagnosis);
}

INSTANTIATE_TEST_SUITE_P(VerdictTest, StageTest,
                         ::testing::Combine(::testing::Values(Case{&Costs::read, 25, "read"},
                                                              Case{&Costs::decode, 25, "decode"},
                                                              Case{&Costs::augment, 25, "augment"},
                                                              Case{&Costs::tokenize, 25,
                                                                   "tokenize"},
                                                              Case{&Costs::collate, 25, "collate"},
                                                              Case{&Costs::step, 40, "compute"},
                                                              Case{&Costs::h2d, 30, "h2d"}),
                                            ::testing::Values(0, 1, 2)));

TEST(VerdictTest, SaysHowMuchTokenizingCosts) {
  Synthetic run;
  run.workers = 2;
  run.costs = Always(CostsWith(&Costs::tokenize, 25));  // a batch takes 32.5 ms, the step 4 ms
  const Diagnosis diagnosis = RunDiagnosisOf(run);
  ASSERT_TRUE(diagnosis.loader);
  EXPECT_NEAR(diagnosis.loader->attribution.SpeedupOf(Factor::kTokenize), 32.5 / 2 / 4.4, 0.2);
  EXPECT_TRUE(English(diagnosis.summary).starts_with("Turning text into tokens"))
      << English(diagnosis.summary);
}

TEST(VerdictTest, ARunWithoutTextDoesNotNameTokenizing) {
  for (const Gain& gain : RunDiagnosisOf(Synthetic{}).gains) {
    EXPECT_NE(gain.factor, Factor::kTokenize);
  }
}

TEST(VerdictTest, NamesTransferWhenTheConsumerUnpickles) {
  Synthetic run;
  run.costs = Always(CostsWith(&Costs::get, 15));
  const Diagnosis diagnosis = RunDiagnosisOf(run);
  EXPECT_EQ(Named(diagnosis), "transfer") << English(diagnosis.summary);
  ExpectFaithfulReplay(diagnosis);
}

TEST(VerdictTest, NamesStartupOfShortEpochs) {
  Synthetic run;
  run.epochs = 6;
  run.batches = 40;
  run.worker_start = 400;
  const Diagnosis diagnosis = RunDiagnosisOf(run);
  EXPECT_EQ(Named(diagnosis), "startup") << English(diagnosis.summary);
  ASSERT_TRUE(diagnosis.loader);
  EXPECT_GT(diagnosis.loader->signals.startup, 0.4);
}

TEST(VerdictTest, ForgivesStartupOfOneUnfinishedEpoch) {
  Synthetic run;
  run.worker_start = 2000;
  run.costs = Always(CostsWith(&Costs::decode, 25));
  traces::TraceData data = testing::MakeSynthetic(run);
  std::erase_if(data.events,
                [](const auto& event) { return event.type == traces::EventType::kEpochEnd; });
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(std::move(data)));
  EXPECT_EQ(Named(diagnosis), "decode") << English(diagnosis.summary);
}

// The case of docs/diagnosis.md 3.9: one batch in twenty decodes for 250 ms, the others for 4 ms.
// There are four workers, and a step takes 12 ms.
TEST(VerdictTest, NamesPrefetchWhenTheTailBlocksTheLine) {
  Synthetic run;
  run.workers = 4;
  run.batches = 600;
  run.costs = [](int, int index) {
    Costs costs;
    costs.step = 12;
    costs.decode = index * 7919 % 100 < 5 ? 250 : 4;
    return costs;
  };
  const Diagnosis diagnosis = RunDiagnosisOf(run);
  EXPECT_EQ(Named(diagnosis), "prefetch") << English(diagnosis.summary);
  EXPECT_GT(diagnosis.loader->signals.head_of_line, 0.3);
  ExpectFaithfulReplay(diagnosis);
}

TEST(VerdictTest, NamesPrefetchWhenCreditIsShort) {
  Synthetic run;
  run.workers = 2;
  run.prefetch = 1;
  run.batches = 600;
  std::mt19937_64 random(7);
  std::vector<double> service(600);
  std::exponential_distribution<double> draw(1.0 / 12);
  for (double& value : service) value = draw(random);
  run.costs = [&](int, int index) {
    Costs costs;
    costs.step = 9;
    costs.decode = service[static_cast<std::size_t>(index)];
    return costs;
  };
  const Diagnosis diagnosis = RunDiagnosisOf(run);
  EXPECT_EQ(Named(diagnosis), "prefetch") << English(diagnosis.summary);
}

// Decode and augment gained 1.57x each, and the verdict blamed decode alone.
TEST(VerdictTest, NamesAnotherPartThatGainsAsMuch) {
  Synthetic run;
  run.costs = Always({.decode = 20, .step = 2});
  Diagnosis diagnosis = RunDiagnosisOf(run);
  ASSERT_EQ(diagnosis.bottleneck, Factor::kDecode);
  EXPECT_EQ(English(diagnosis.summary).find("would gain as much"), std::string::npos);
  diagnosis.gains = {{Factor::kDecode, 1.572}, {Factor::kAugment, 1.568}};
  const std::string said = English(Summarise(diagnosis));
  EXPECT_NE(said.find(", and augment would gain as much; the loop"), std::string::npos) << said;
}

TEST(VerdictTest, SaysNoneWhenBalanced) {
  Synthetic run;
  run.workers = 2;
  run.batches = 400;
  run.costs = [](int, int) {
    Costs costs{1.5, 4.5, 3, 0.8, 0.05, 0.05, 4.9, 0};
    return costs;
  };
  const Diagnosis diagnosis = RunDiagnosisOf(run);
  EXPECT_EQ(Named(diagnosis), "none") << English(diagnosis.summary);
}

TEST(VerdictTest, GainOfDecodeIsThatOfTheTruth) {
  Synthetic run;
  Costs costs = CostsWith(&Costs::decode, 25);
  run.batches = 600;
  run.costs = Always(costs);
  const Diagnosis before = RunDiagnosisOf(run);
  costs.decode = 0;
  run.costs = Always(costs);
  const Diagnosis after = RunDiagnosisOf(run);
  const double truth = after.samples_rate / before.samples_rate;
  EXPECT_NEAR(before.loader->attribution.SpeedupOf(Factor::kDecode), truth, 0.05 * truth);
}

// Four busy workers on two cores: the wall time doubles, the CPU time does not.
TEST(VerdictTest, FullCoresBoundTheGainOfAStage) {
  Synthetic run;
  run.workers = 4;
  run.cores = 2;
  run.cpu_share = 0.5;
  run.batches = 400;
  run.costs = Always(Costs{0, 40, 20, 0.5, 0.05, 0.05, 2, 0});
  const Diagnosis diagnosis = RunDiagnosisOf(run);
  EXPECT_EQ(Named(diagnosis), "decode") << English(diagnosis.summary);
  EXPECT_GT(diagnosis.loader->cpu.saturation(), 0.9);
  // Decoding is two thirds of the CPU time: without it, the cores do three times as much.
  EXPECT_NEAR(diagnosis.loader->attribution.SpeedupOf(Factor::kDecode), 3, 0.2);
  ExpectFaithfulReplay(diagnosis);
  // And more workers must not be predicted to help.
  Setting eight;
  eight.workers = 8;
  const Pipeline more = Apply(diagnosis.loader->pipeline, eight, {});
  EXPECT_LT(Predict(diagnosis.loader->pipeline, more, diagnosis.loader->replay).speedup, 1.05);
}

TEST(VerdictTest, WithoutWorkersAllOfTheFetchIsWait) {
  Synthetic run;
  run.workers = 0;
  run.costs = Always(Costs{1, 4, 2, 1, 0, 0, 2, 0});
  const Diagnosis diagnosis = RunDiagnosisOf(run);
  EXPECT_NEAR(diagnosis.wait_fraction, 0.8, 0.01);
  // Data takes 8 ms and the step 2 ms, so the run is five times as fast with free data.
  EXPECT_NEAR(diagnosis.loader->attribution.headroom, 5, 0.1);
}

// Making a batch takes 6 ms and the step 10 ms, one after the other. The step takes longer, but a
// worker that makes batches during the step still gains.
TEST(VerdictTest, DataAndStepThatTakeTurnsAreNotTheStepsFault) {
  Synthetic run;
  run.workers = 0;
  run.costs = Always(Costs{1, 3, 1, 1, 0, 0, 10, 0});
  const Diagnosis diagnosis = RunDiagnosisOf(run);
  const std::string text = English(diagnosis.summary);
  EXPECT_NE(text.find("Data and step take turns"), std::string::npos) << text;
  EXPECT_NE(text.find("with 1 worker beside the step"), std::string::npos) << text;
  EXPECT_NEAR(diagnosis.loader->suggestion.predicted.speedup, 1.45, 0.1);
}

// Two workers need 14 ms per batch. The step takes 3 ms for 60 batches, then 22 ms for 60. The
// queues are too short to level this out. No single part of the data path gains as much as the
// step, but all parts together gain more.
TEST(VerdictTest, NamesTheStepBesideADataPathOfManySmallParts) {
  Synthetic run;
  run.workers = 2;
  run.cores = 16;
  run.batches = 960;
  run.costs = [](int, int index) {
    return Costs{7, 7, 7, 7, 0.1, 0.1, index / 60 % 2 == 0 ? 3.0 : 22.0, 0};
  };
  const Diagnosis diagnosis = RunDiagnosisOf(run);
  const Attribution& found = diagnosis.loader->attribution;
  EXPECT_EQ(Named(diagnosis), "compute") << English(diagnosis.summary);
  EXPECT_GT(found.headroom, found.SpeedupOf(Factor::kCompute));
  EXPECT_NE(English(diagnosis.summary).find("more than any one part of the data path"),
            std::string::npos)
      << English(diagnosis.summary);
  ExpectFaithfulReplay(diagnosis);
}

TEST(VerdictTest, FewBatchesAreAHint) {
  Synthetic run;
  run.batches = 6;
  run.costs = Always(CostsWith(&Costs::decode, 25));
  const Diagnosis diagnosis = RunDiagnosisOf(run);
  EXPECT_LT(diagnosis.confidence, 0.35);
  EXPECT_NE(English(diagnosis.summary).find("hint"), std::string::npos)
      << English(diagnosis.summary);
}

TEST(VerdictTest, MissingFactsAreInferred) {
  Synthetic run;
  run.workers = 3;
  run.loader_facts = false;
  run.host_facts = false;
  run.costs = Always(CostsWith(&Costs::decode, 30));
  const Diagnosis diagnosis = RunDiagnosisOf(run);
  EXPECT_EQ(diagnosis.run.loader().config.num_workers, 3);
  EXPECT_EQ(diagnosis.run.loader().config.prefetch_factor, 2);
  EXPECT_EQ(Named(diagnosis), "decode") << English(diagnosis.summary);
}

TEST(VerdictTest, SuggestsEnoughWorkersForTheStep) {
  Synthetic run;
  run.workers = 1;
  run.batches = 400;
  run.costs = Always(Costs{1, 20, 8, 1, 0.1, 0.2, 9.7, 0});  // worker: 30 ms, loop: 9.9 ms
  const Diagnosis diagnosis = RunDiagnosisOf(run);
  EXPECT_EQ(diagnosis.loader->suggestion.workers, 3);  // a fourth would gain under 2 %
  EXPECT_TRUE(diagnosis.loader->suggestion.changes);
  EXPECT_NEAR(diagnosis.loader->suggestion.predicted.speedup, 3, 0.3);
}

TEST(BaseTest, WhereStartUpCountsRatesWaitingAndSpeedupsAreOfTheWholeRun) {
  Synthetic run{.batches = 12, .epochs = 5, .worker_start = 400};
  run.costs = Always({.decode = 20, .step = 5});
  const Diagnosis diagnosis = Diagnose(*SyntheticTrace(run));
  ASSERT_TRUE(diagnosis.whole_run);
  EXPECT_EQ(diagnosis.base_rate(), diagnosis.whole_rate);
  EXPECT_LT(diagnosis.whole_rate, 0.95 * diagnosis.samples_rate);
  const Prediction told = OnBase(diagnosis, diagnosis.loader->suggestion.predicted);
  EXPECT_NEAR(told.rate.estimate / diagnosis.whole_rate, told.speedup, 1e-9 * told.speedup);
  const std::string verdict = English(diagnosis.summary);
  EXPECT_NE(verdict.find("(" + ShortNumber(diagnosis.whole_rate) + " ->"), std::string::npos)
      << verdict;
  run.epochs = 1;
  run.batches = 200;
  run.worker_start = 2;
  const Diagnosis steady = Diagnose(*SyntheticTrace(run));
  EXPECT_FALSE(steady.whole_run);
  EXPECT_EQ(steady.base_rate(), steady.samples_rate);
}

// Two workers need 1.6 s to start, which is 43 % of the run, but only once.
TEST(BaseTest, StartUpOfWorkersThatStayDoesNotCount) {
  Synthetic run{.batches = 60, .epochs = 3, .worker_start = 800};
  run.costs = Always({.decode = 20, .step = 5});
  run.persistent = true;
  const Diagnosis diagnosis = Diagnose(*SyntheticTrace(run));
  EXPECT_LT(diagnosis.whole_rate, 0.95 * diagnosis.samples_rate);
  EXPECT_FALSE(diagnosis.whole_run);
  EXPECT_EQ(diagnosis.bottleneck, Factor::kDecode);
  run.persistent = false;
  EXPECT_TRUE(Diagnose(*SyntheticTrace(run)).whole_run);
}

TEST(TimesTest, BeyondTwentyTimesThereIsNoFigureAndNoRate) {
  EXPECT_EQ(TimesText(1.234), "1.23");
  EXPECT_EQ(TimesText(296.64), ">20");
  Synthetic run;
  run.costs = Always({.read = 0.01,
                      .decode = 60,
                      .augment = 0.01,
                      .collate = 0.01,
                      .put = 0.01,
                      .get = 0.01,
                      .step = 0.05});
  run.workers = 1;
  const Diagnosis diagnosis = Diagnose(*SyntheticTrace(run));
  ASSERT_GT(diagnosis.loader->attribution.SpeedupOf(diagnosis.bottleneck), kMostTimes);
  const std::string verdict = English(diagnosis.summary);
  EXPECT_NE(verdict.find(">20x as fast"), std::string::npos) << verdict;
  EXPECT_EQ(verdict.find("->"), std::string::npos) << verdict;
}

// The verdict of a run without a loader does not say what a plan needs.
TEST(ReasonTest, APlanNamesItsNeedUnlessTheVerdictDoes) {
  const Report without = BuildReport(*traces::MakeTrace({}), "t");
  const std::string text = ReportText(without, Colour::kOff);
  EXPECT_NE(text.find("Not enough: no finished call of the run was"), std::string::npos) << text;
  EXPECT_EQ(text.find("The verdict says why"), std::string::npos) << text;
  Synthetic run;
  run.batches = 3;
  const std::string hint = ReportText(BuildReport(*SyntheticTrace(run), "t"), Colour::kOff);
  EXPECT_NE(hint.find("The verdict says why"), std::string::npos) << hint;
}

TEST(ShareTest, MoreThanAllOfTheTimeIsThreads) {
  using traces::StageId;
  EXPECT_EQ(ShareText(0.61, StageId::kDecode), "61 %");
  EXPECT_EQ(ShareText(1.02, StageId::kDecode), "102 %");
  EXPECT_EQ(ShareText(2.34, StageId::kDecode), "2.3 thr");
  EXPECT_EQ(ShareText(1.3, StageId::kStartup), "1.3 thr");
  EXPECT_EQ(ShareText(2.34, StageId::kDecode, Language::kChinese), "2.3 线程");
  EXPECT_EQ(ShareText(1.3, StageId::kKernel), "1.3 streams");  // of a GPU, which are no threads
  EXPECT_EQ(ShareText(1.3, StageId::kKernel, Language::kChinese), "1.3 个流");
  EXPECT_EQ(ShareText(0.0003, StageId::kPin), "< 0.1 %");
  EXPECT_EQ(ShareText(0, StageId::kPin), "0 %");
}

TEST(UnsureTest, ARunThatTheSimulationDoesNotRepeatHasNoGainInItsHeadline) {
  Diagnosis diagnosis = RunDiagnosisOf({.costs = Always({.decode = 30, .step = 2})});
  ASSERT_EQ(Named(diagnosis), "decode");
  EXPECT_NE(English(Summarise(diagnosis)).find("x as fast"), std::string::npos);
  diagnosis.loader->replay.simulated = 1.31 * diagnosis.loader->replay.measured;
  const std::string verdict = English(Summarise(diagnosis));
  EXPECT_EQ(verdict.find("x as fast"), std::string::npos) << verdict;
  EXPECT_NE(verdict.find("+31 %"), std::string::npos) << verdict;
  EXPECT_NE(verdict.find("Decode seems to hold the run back"), std::string::npos) << verdict;
  const std::string chinese = Render(Summarise(diagnosis), Language::kChinese);
  EXPECT_NE(chinese.find("瓶颈似乎是解码"), std::string::npos) << chinese;
}

TEST(MixedTest, StagesOfTwoKindsOfCallsHaveNoPercentileBetweenThem) {
  StageTotals decode;
  const auto add = [&](std::uint32_t name, std::int64_t wall) {
    decode.Add(wall, -1, 0);
    decode.children[StringId{name}].Add(wall, -1, 0);
  };
  for (int i = 0; i < 100; ++i) {
    add(1, 280'000);
    add(2, 11'000'000);
  }
  EXPECT_TRUE(IsMixed(decode));
  StageTotals even;
  for (int i = 0; i < 100; ++i) {
    for (const std::uint32_t name : {1u, 2u}) {
      even.Add(900'000 + name, -1, 0);
      even.children[StringId{name}].Add(900'000 + name, -1, 0);
    }
  }
  EXPECT_FALSE(IsMixed(even));
}

}  // namespace
}  // namespace penstock::analyzer
