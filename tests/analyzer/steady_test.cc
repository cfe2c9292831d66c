// SPDX-License-Identifier: Apache-2.0
//
// The steady part of a run, which tells its lasting rate. It leaves out start-up, pauses, and the
// batches that the workers made during a pause.
#include "analyzer/model/steady.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "analyzer/diagnosis/diagnosis.h"
#include "tests/analyzer/synthetic.h"

namespace penstock::analyzer {
namespace {

using testing::Costs;
using testing::Synthetic;
using testing::SyntheticTrace;

TEST(SteadyStateTest, DropsTheCreditsOfEachEpoch) {
  Synthetic run;
  run.epochs = 2;
  run.batches = 50;
  const RunModel model = BuildRunModel(*SyntheticTrace(run));
  EXPECT_EQ(FindSteadyState(model.loader()).batches, 2u * (50 - 4));
}

TEST(SteadyStateTest, KeepsAtLeastHalf) {
  Synthetic run;
  run.workers = 8;
  run.prefetch = 8;
  run.batches = 40;
  const RunModel model = BuildRunModel(*SyntheticTrace(run));
  EXPECT_EQ(FindSteadyState(model.loader()).batches, 20u);
}

TEST(SteadyStateTest, DropsTheFirstBatchOfAnEpochWithoutWorkers) {
  Synthetic run;
  run.workers = 0;
  run.batches = 40;
  const RunModel model = BuildRunModel(*SyntheticTrace(run));
  EXPECT_EQ(FindSteadyState(model.loader()).batches, 39u);
}

TEST(SteadyStateTest, SetsCheckpointsApart) {
  Synthetic run;
  run.batches = 200;
  run.costs = [](int, int index) {
    Costs costs;
    if (index == 100) costs.step = 3000;
    return costs;
  };
  const RunModel model = BuildRunModel(*SyntheticTrace(run));
  const SteadyState steady = FindSteadyState(model.loader());
  ASSERT_EQ(steady.pauses.size(), 1u);
  EXPECT_NEAR(steady.pauses_time, 3, 0.01);
  EXPECT_NEAR(steady.rate.estimate, 4 / 4.3e-3, 60);  // the loop is bound by step and get
}

TEST(SteadyStateTest, PausesDoNotChangeTheRate) {
  const auto rate = [](int workers, double decode, double step, bool pauses) {
    Synthetic run;
    run.workers = workers;
    run.batches = 200;
    run.costs = [decode, step, pauses](int, int index) {
      Costs costs;
      costs.decode = decode;
      costs.step = pauses && index % 25 == 12 ? 3000 : step;
      return costs;
    };
    const RunModel model = BuildRunModel(*SyntheticTrace(run));
    const SteadyState steady = FindSteadyState(model.loader());
    EXPECT_EQ(steady.pauses.size(), pauses ? 8u : 0u);
    return steady.rate.estimate;
  };
  // The ratio would be 1.03 if turns with a pause did not count an ordinary step.
  EXPECT_NEAR(rate(0, 1, 40, true) / rate(0, 1, 40, false), 1, 0.01);
  // It would be 1.19 if batches that the workers make in the pauses counted.
  EXPECT_NEAR(rate(2, 8, 4, true) / rate(2, 8, 4, false), 1, 0.02);
}

TEST(SteadyStateTest, PausesThatTheQueueOutlastsAreNone) {
  const auto state = [](double pause) {
    Synthetic run;
    run.prefetch = 16;
    run.batches = 400;
    run.costs = [pause](int, int index) {
      Costs costs;
      costs.decode = 8;
      costs.step = index % 40 == 20 ? pause : 4;
      return costs;
    };
    const RunModel model = BuildRunModel(*SyntheticTrace(run));
    return FindSteadyState(model.loader());
  };
  // In both runs the workers limit the rate. If the turns with long steps were left out, the rate
  // would be up to a third higher.
  const SteadyState often = state(45);
  EXPECT_TRUE(often.pauses.empty());
  EXPECT_NEAR(often.rate.estimate / state(4).rate.estimate, 1, 0.02);
}

TEST(SteadyStateTest, ALongPauseHidesNoShorterOne) {
  Synthetic run;
  run.batches = 200;
  run.costs = [](int, int index) {
    Costs costs;
    costs.step = index == 60 ? 30000 : index == 120 ? 1000 : 4;
    return costs;
  };
  const RunModel model = BuildRunModel(*SyntheticTrace(run));
  EXPECT_EQ(FindSteadyState(model.loader()).pauses.size(), 2u);
}

TEST(SteadyStateTest, FirstStepsThatCompileAreSetApart) {
  Synthetic run;
  run.batches = 40;
  run.costs = [](int, int index) {
    Costs costs;
    costs.step = index < 3 ? 8000 : 8;
    return costs;
  };
  const RunModel model = BuildRunModel(*SyntheticTrace(run));
  const SteadyState steady = FindSteadyState(model.loader());
  EXPECT_EQ(std::count(steady.paused.begin(), steady.paused.end(), true), 3);
}

TEST(SteadyStateTest, TheWayToTheNextEpochIsNoStep) {
  Synthetic run;
  run.epochs = 6;
  run.batches = 12;
  run.costs = [](int epoch, int index) {
    Costs costs;
    costs.step = index == 11 ? 900 : epoch == 0 && index == 0 ? 5000 : 4;
    return costs;
  };
  const RunModel model = BuildRunModel(*SyntheticTrace(run));
  const SteadyState steady = FindSteadyState(model.loader());
  EXPECT_EQ(std::count(steady.paused.begin(), steady.paused.end(), true), 1);
}

TEST(DiagnosisTest, AStepThatCompilesOnceIsNotWhatHoldsTheRunBack) {
  const auto compute_gain = [](double first) {
    Synthetic run;
    run.batches = 120;
    run.costs = [first](int, int index) {
      Costs costs{0.5, 8, 4, 1, 0.1, 0.2, 10, 0};
      if (index == 0) costs.step = first;
      return costs;
    };
    return Diagnose(*SyntheticTrace(run)).loader->attribution.SpeedupOf(Factor::kCompute);
  };
  EXPECT_NEAR(compute_gain(20000), compute_gain(10), 0.03);
}

TEST(SteadyStateTest, ARhythmOfLongStepsIsNoPause) {
  Synthetic run;
  run.batches = 200;
  run.costs = [](int, int index) {
    Costs costs;
    costs.step = index % 8 == 0 ? 40 : 4;
    return costs;
  };
  const RunModel model = BuildRunModel(*SyntheticTrace(run));
  EXPECT_TRUE(FindSteadyState(model.loader()).pauses.empty());
}

}  // namespace
}  // namespace penstock::analyzer
