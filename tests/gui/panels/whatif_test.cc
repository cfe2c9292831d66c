// SPDX-License-Identifier: Apache-2.0
//
// The sliders against `penstock whatif`: both must say the same.
#include "gui/model/panels/whatif.h"

#include <gtest/gtest.h>

#include "analyzer/predict/predict.h"
#include "tests/analyzer/synthetic.h"

namespace penstock::gui {
namespace {

using analyzer::testing::Always;
using analyzer::testing::Synthetic;
using analyzer::testing::SyntheticTrace;

class WhatIfTest : public ::testing::Test {
 protected:
  static Synthetic Run() {
    Synthetic run;
    run.costs = Always({.read = 1, .decode = 12, .augment = 3, .step = 4});
    return run;
  }
  analyzer::Diagnosis diagnosis_ = analyzer::Diagnose(*SyntheticTrace(Run()));

  static void ExpectSame(const analyzer::Configuration& a, const analyzer::Configuration& b) {
    EXPECT_EQ(a.predicted.rate.estimate, b.predicted.rate.estimate);
    EXPECT_EQ(a.predicted.rate.low, b.predicted.rate.low);
    EXPECT_EQ(a.predicted.rate.high, b.predicted.rate.high);
    EXPECT_EQ(a.predicted.ram, b.predicted.ram);
    EXPECT_EQ(a.bottleneck, b.bottleneck);
    EXPECT_EQ(a.workers, b.workers);
    EXPECT_EQ(a.prefetch, b.prefetch);
    EXPECT_EQ(a.batch, b.batch);
  }
};

TEST_F(WhatIfTest, SaysWhatTheCommandSays) {
  WhatIf chosen = Recorded(diagnosis_);
  chosen.workers = 4;
  chosen.prefetch = 4;
  // penstock whatif T --workers 4 --prefetch 4
  analyzer::GridRequest request;
  request.workers = {4};
  request.prefetch = {4};
  const auto grid = analyzer::PredictGrid(diagnosis_, request);
  const auto answer = Ask(diagnosis_, chosen);
  ASSERT_TRUE(grid && answer);
  ExpectSame(answer->chosen, grid->configurations[0]);
}

TEST_F(WhatIfTest, EverySliderReachesTheSimulator) {
  WhatIf chosen = Recorded(diagnosis_);
  chosen.workers = 3;
  chosen.batch = 8;
  chosen.step = 0.002;
  chosen.pin = true;
  chosen.persistent = true;
  chosen.speed = {1, 2, 1, 1};
  // penstock whatif T --workers 3 --prefetch 2 --batch 8 --step-ms 2 --pin 1 --persistent 1
  //                   --speedup decode=2
  analyzer::GridRequest request;
  request.workers = {3};
  request.prefetch = {2};
  request.batch = 8;
  request.step = 0.002;
  request.pin = true;
  request.persistent = true;
  request.scale = {{analyzer::Factor::kDecode, 0.5}};
  const auto grid = analyzer::PredictGrid(diagnosis_, request);
  const auto answer = Ask(diagnosis_, chosen);
  ASSERT_TRUE(grid && answer);
  ExpectSame(answer->chosen, grid->configurations[0]);
}

TEST_F(WhatIfTest, StagesOnTheGpuArePredictedAsTheCommandDoesOrRefusedForTheSameReason) {
  for (const bool decode : {false, true}) {
    WhatIf chosen = Recorded(diagnosis_);
    chosen.gpu_decode = decode;
    chosen.gpu_augment = true;
    // penstock whatif T --gpu augment; --gpu decode,augment
    analyzer::GridRequest request;
    request.workers = {chosen.workers};
    request.prefetch = {chosen.prefetch};
    request.changes.gpu_decode = decode;
    request.changes.gpu_augment = true;
    request.device_costs = analyzer::BuiltInDeviceCosts(diagnosis_.loader->material.gpu);
    const auto grid = analyzer::PredictGrid(diagnosis_, request);
    const auto answer = Ask(diagnosis_, chosen);
    ASSERT_EQ(grid.has_value(), answer.has_value());
    if (!grid) {
      EXPECT_EQ(grid.error().why, answer.error().why);
      continue;
    }
    ExpectSame(answer->chosen, grid->configurations[0]);
    EXPECT_EQ(answer->notes, grid->notes);
  }
}

TEST_F(WhatIfTest, CurveHoldsTheChosenAndTheRecordedNumberOfWorkers) {
  WhatIf chosen = Recorded(diagnosis_);
  chosen.workers = 7;
  const auto answer = Ask(diagnosis_, chosen);
  ASSERT_TRUE(answer);
  bool recorded = false;
  for (std::size_t i = 0; i < answer->curve.size(); ++i) {
    if (i > 0) {
      EXPECT_GT(answer->curve[i].workers, answer->curve[i - 1].workers);
    }
    recorded = recorded || answer->curve[i].workers == Recorded(diagnosis_).workers;
  }
  EXPECT_TRUE(recorded);
  EXPECT_EQ(answer->chosen.workers, 7);
}

TEST_F(WhatIfTest, SuggestionIsInsideTheSliders) {
  const WhatIfLimits limits = LimitsOf(diagnosis_);
  const WhatIf suggested = Suggested(diagnosis_);
  EXPECT_LE(suggested.workers, limits.workers);
  EXPECT_LE(suggested.prefetch, limits.prefetch);
  EXPECT_LE(suggested.batch, limits.batch);
}

TEST(WhatIfWithoutLoaderTest, SaysWhatIsMissing) {
  const analyzer::Diagnosis nothing = analyzer::Diagnose(*traces::MakeTrace({}));
  const auto answer = Ask(nothing, WhatIf{});
  ASSERT_FALSE(answer);
  EXPECT_FALSE(answer.error().error().message.empty());
}

TEST_F(WhatIfTest, AFactorThatTheRatesSayTooIsNotOfTheWholeRun) {
  Synthetic run = Run();
  run.epochs = 3;  // with ends that are seen, the start-up of each counts
  const analyzer::Diagnosis epochs = analyzer::Diagnose(*SyntheticTrace(run));
  ASSERT_TRUE(analyzer::StartRecurs(epochs.loader->pipeline));
  const auto of = [&](double speedup, double before) {
    analyzer::Prediction predicted;
    predicted.rate.estimate = 200;
    predicted.speedup = speedup;
    return OfWholeRun(*epochs.loader, predicted, before);
  };
  EXPECT_FALSE(of(2, 100));
  EXPECT_FALSE(of(2.01, 100));
  EXPECT_TRUE(of(1.8, 100));
  EXPECT_FALSE(of(2, 0));  // no rate was measured
}

}  // namespace
}  // namespace penstock::gui
