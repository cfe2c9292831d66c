// SPDX-License-Identifier: Apache-2.0
//
// The sliders and `penstock whatif` must predict the same.
#include "gui/model/panels/whatif.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "analyzer/predict/predict.h"
#include "gui/model/overview.h"
#include "tests/analyzer/synthetic.h"
#include "tests/analyzer/synthetic_ranks.h"

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

  // Expects the prediction of PredictGrid() for the same changes, or the same refusal. Returns
  // whether there is a prediction.
  bool ExpectAsCommand(const WhatIf& chosen) const {
    analyzer::GridRequest request;
    request.workers = {chosen.workers};
    request.prefetch = {chosen.prefetch};
    request.options = false;
    request.changes = chosen.changes;
    request.device_costs = analyzer::BuiltInDeviceCosts(diagnosis_.loader->material.gpu);
    const auto grid = analyzer::PredictGrid(diagnosis_, request);
    const auto answer = Ask(diagnosis_, chosen);
    EXPECT_EQ(grid.has_value(), answer.has_value());
    if (!grid || !answer) {
      if (!grid && !answer) {
        EXPECT_EQ(grid.error().why, answer.error().why);
      }
      return false;
    }
    ExpectSame(answer->chosen, grid->configurations[0]);
    EXPECT_EQ(answer->notes, grid->notes);
    return true;
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

TEST_F(WhatIfTest, TheRecordedSettingShowsWhatWasMeasured) {
  WhatIf chosen = Recorded(diagnosis_);
  const auto recorded = Ask(diagnosis_, chosen);
  ASSERT_TRUE(recorded && recorded->recorded);
  EXPECT_EQ(recorded->recorded->estimate, diagnosis_.base_rate());
  EXPECT_EQ(recorded->recorded->low, diagnosis_.loader->steady.rate.low);
  EXPECT_EQ(recorded->recorded->high, diagnosis_.loader->steady.rate.high);
  const int workers = chosen.workers;
  // Two intervals of 90 % belong to this point: the model's is the band, this one is a bar.
  const CurvePoint measured = PointsOf(*recorded, workers, Language::kEnglish)[0];
  EXPECT_EQ(measured.low, diagnosis_.loader->steady.rate.low);
  EXPECT_EQ(measured.high, diagnosis_.loader->steady.rate.high);
  // The view had two boxes, "chosen 485" and "recorded 485", over the curve.
  EXPECT_EQ(PointsOf(*recorded, workers, Language::kEnglish).size(), 1U);
  chosen.workers += 1;
  const auto other = Ask(diagnosis_, chosen);
  ASSERT_TRUE(other);
  EXPECT_FALSE(other->recorded);
  const std::vector<CurvePoint> points = PointsOf(*other, workers, Language::kEnglish);
  ASSERT_EQ(points.size(), 2U);
  EXPECT_TRUE(points[0].text.starts_with("recorded ")) << points[0].text;
  EXPECT_EQ(points[1].low, points[1].high) << "the band is the prediction's interval";
  EXPECT_EQ(points[1].workers, workers + 1);
}

// Experiments (record --probe) lengthen the steps outside of the steady part.
TEST_F(WhatIfTest, TheRecordedStepIsThatOfTheSteadyPart) {
  const double step = LimitsOf(diagnosis_).recorded_step;
  std::vector<analyzer::Batch>& batches = diagnosis_.run.loaders.front().batches;
  for (std::size_t i = 0; 3 * i < 2 * batches.size(); ++i) {
    diagnosis_.loader->steady.in_window[i] = false;
    batches[i].step_end += 10'000'000;
  }
  // The first batch of the window counts with the lengthened step before it.
  EXPECT_NEAR(LimitsOf(diagnosis_).recorded_step, step, 3e-4);
}

// Half of the steps are five times as long as the others: 4 ms and 20 ms. Each step becomes as long
// as the slider says, so that the loop would take another time with a median.
TEST(WhatIfStepTest, TheRecordedStepIsTheMean) {
  Synthetic run;
  run.costs = [](int, int index) {
    return analyzer::testing::Costs{.read = 1, .decode = 1, .step = index % 2 == 0 ? 4.0 : 20.0};
  };
  const analyzer::Diagnosis diagnosis = analyzer::Diagnose(*SyntheticTrace(run));
  const WhatIfLimits limits = LimitsOf(diagnosis);
  EXPECT_NEAR(limits.recorded_step, 12e-3, 5e-4);
  EXPECT_EQ(limits.recorded_step, MeanStep(diagnosis));
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
    chosen.changes.gpu_decode = decode;
    chosen.changes.gpu_augment = true;
    // penstock whatif T --gpu augment; --gpu decode,augment
    ExpectAsCommand(chosen);
  }
}

TEST_F(WhatIfTest, ChangesOfDataAndMachineArePredictedAsTheCommandDoesOrRefusedForTheSameReason) {
  analyzer::Changes one;
  std::vector<analyzer::Changes> all(7, one);
  all[0].decoder = "simplejpeg";
  all[1].transfer = "u8";
  all[2].resize = 256;
  all[3].ram_cache = true;
  all[4].pack = true;
  all[5].cores = 16;
  all[6].core_speed = 1.5;
  int predicted = 0;
  for (const analyzer::Changes& changes : all) {
    WhatIf chosen = Recorded(diagnosis_);
    chosen.changes = changes;
    predicted += ExpectAsCommand(chosen) ? 1 : 0;
  }
  EXPECT_GE(predicted, 3);
}

TEST_F(WhatIfTest, TheCopiedCommandAsksTheSame) {
  WhatIf chosen = Recorded(diagnosis_);
  EXPECT_EQ(WhatIfCommand(diagnosis_, chosen, "", ""), "");
  EXPECT_EQ(WhatIfCommand(diagnosis_, chosen, "/data/my run.penstock", ""),
            "penstock whatif '/data/my run.penstock' --workers 2 --prefetch 2");
  chosen.workers = 4;
  chosen.batch = 8;
  chosen.step = 0.0125;
  chosen.pin = true;
  chosen.speed = {1, 2, 1.5, 1};
  chosen.changes.decoder = "simplejpeg";
  chosen.changes.transfer = "u8";
  chosen.changes.resize = 256;
  chosen.changes.ram_cache = chosen.changes.pack = chosen.changes.alone = true;
  chosen.changes.cores = 16;
  chosen.changes.core_speed = 1.25;
  EXPECT_EQ(WhatIfCommand(diagnosis_, chosen, "a.penstock", "train.py:88"),
            "penstock whatif a.penstock --loader train.py:88 --workers 4 --prefetch 2 --batch 8 "
            "--step-ms 12.5 --pin 1 --speedup decode=2,augment=1.5 --decoder simplejpeg "
            "--transfer u8 --offline-resize 256 --ram-cache --pack --alone --cores 16 "
            "--core-speed 1.25");
  chosen = Recorded(diagnosis_);
  chosen.changes.gpu_decode = chosen.changes.gpu_augment = true;
  EXPECT_EQ(WhatIfCommand(diagnosis_, chosen, "a.penstock", ""),
            "penstock whatif a.penstock --workers 2 --prefetch 2 --gpu decode,augment");
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

// The choices that the simulator refuses for a loop over several loaders looked open.
TEST_F(WhatIfTest, OfSeveralLoadersItIsSaidWhatCannotBeChosen) {
  EXPECT_TRUE(LimitsOf(diagnosis_).unchanged.empty());
  analyzer::Diagnosis several = diagnosis_;
  several.loader->pipeline.beside.emplace_back();
  const WhatIfLimits limits = LimitsOf(several);
  WhatIf chosen = Recorded(several);
  chosen.changes.decoder = "simplejpeg";
  const auto refused = Ask(several, chosen);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().why, limits.unchanged);
  chosen = Recorded(several);
  chosen.changes.cores = 4;
  EXPECT_FALSE(Ask(several, chosen));
  EXPECT_NE(English(limits.unchanged).find("cache, device or machine"), std::string::npos);
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

TEST_F(WhatIfTest, WhereStartUpCountsEveryRateIsTheRecordedOneTimesItsSpeedup) {
  Synthetic run = Run();
  run.epochs = 5;
  run.batches = 12;
  run.worker_start = 400;
  const analyzer::Diagnosis diagnosis = analyzer::Diagnose(*SyntheticTrace(run));
  ASSERT_TRUE(diagnosis.whole_run);
  const auto answer = Ask(diagnosis, Recorded(diagnosis));
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->whole_run);
  EXPECT_DOUBLE_EQ(answer->measured, diagnosis.whole_rate);
  for (const analyzer::Configuration& one : answer->curve) {
    const analyzer::Prediction& predicted = one.predicted;
    EXPECT_NEAR(predicted.rate.estimate / answer->measured, predicted.speedup,
                1e-9 * predicted.speedup)
        << one.workers << " workers";
    EXPECT_LE(predicted.rate.low, predicted.rate.estimate);
    EXPECT_GE(predicted.rate.high, predicted.rate.estimate);
  }
}

TEST_F(WhatIfTest, ASpeedupIsTheRatioOfTheRatesThatAreShown) {
  for (const int workers : {0, 1, 2, 4, 8}) {
    WhatIf chosen = Recorded(diagnosis_);
    chosen.workers = workers;
    const auto answer = Ask(diagnosis_, chosen);
    ASSERT_TRUE(answer);
    const analyzer::Prediction& predicted = answer->chosen.predicted;
    EXPECT_FALSE(answer->whole_run);
    EXPECT_EQ(answer->measured, diagnosis_.samples_rate);
    EXPECT_NEAR(predicted.rate.estimate / answer->measured, predicted.speedup, 1e-9) << workers;
  }
}

TEST_F(WhatIfTest, ASettingThatLosesIsNoGain) {
  WhatIf slower = Recorded(diagnosis_);
  slower.workers = 1;
  const auto loss = Ask(diagnosis_, slower);
  ASSERT_TRUE(loss);
  ASSERT_LT(loss->chosen.predicted.rate.high, loss->measured);
  EXPECT_EQ(loss->effect, Effect::kLoss);
  WhatIf faster = Recorded(diagnosis_);
  faster.workers = 4;
  const auto gain = Ask(diagnosis_, faster);
  ASSERT_TRUE(gain);
  EXPECT_EQ(gain->effect, Effect::kGain);
}

// The view has a box for "--alone" and a slider for "--step-ms".
TEST_F(WhatIfTest, NotesNameNoOptionsOfTheCommandLine) {
  diagnosis_.loader->pipeline.crowded = true;
  WhatIf chosen = Recorded(diagnosis_);
  chosen.batch *= 2;
  const auto answer = Ask(diagnosis_, chosen);
  ASSERT_TRUE(answer);
  EXPECT_GE(answer->notes.size(), 2U);
  for (const analyzer::Statement& note : answer->notes) {
    EXPECT_EQ(English(note).find("--"), std::string::npos) << English(note);
  }
}

// A trace without the memory of its workers.
TEST_F(WhatIfTest, MemoryOfBatchesAloneIsNotCalledTheMemoryOfTheRun) {
  auto answer = Ask(diagnosis_, Recorded(diagnosis_));
  ASSERT_TRUE(answer);
  answer->budget = 12.6e9;
  WhatIfMemory memory = ShownMemory(*answer, Language::kEnglish);
  EXPECT_EQ(memory.name, Text::kMemoryOfBatches);
  EXPECT_EQ(memory.line, "budget 12.6 GB  ·  the workers' private memory was not recorded");
  answer->batches_alone = false;
  memory = ShownMemory(*answer, Language::kEnglish);
  EXPECT_EQ(memory.name, Text::kMemory);
  EXPECT_EQ(memory.line, "budget 12.6 GB");
  answer->rough_memory = true;  // "1.03 GB" came from single readings of 53 to 92 MB
  EXPECT_EQ(ShownMemory(*answer, Language::kEnglish).value, "about " + memory.value);
  answer->chosen.fits = false;
  EXPECT_EQ(ShownMemory(*answer, Language::kChinese).line, "超出内存预算  ·  预算 12.6 GB");
}

TEST(WhatIfAxisTest, ARateOfFiveDigitsHasNoExponent) {
  EXPECT_EQ(AxisText(2.5), "2.5");
  EXPECT_EQ(AxisText(8000), "8000");
  EXPECT_EQ(AxisText(10'000), "10k");
  EXPECT_EQ(AxisText(12'500), "12.5k");
}

TEST(WhatIfStepTest, TheStepThatIsChosenIsTheOneThatIsShown) {
  EXPECT_DOUBLE_EQ(ShownStep(12.3456), 0.0123);
  EXPECT_DOUBLE_EQ(ShownStep(0.04), 0);
}

// The budget is the part of one rank, so it must not be shown as the machine's.
TEST(WhatIfRanksTest, TheBudgetIsThatOfOneOfTheRanks) {
  const Synthetic run;
  traces::TraceData data = analyzer::testing::SideBySide(run, 2);
  data.facts["memory.total"] = "16000000000";
  const auto diagnosis = analyzer::Diagnose(*traces::MakeTrace(std::move(data)));
  const auto answer = Ask(diagnosis, Recorded(diagnosis));
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->ranks, 2);
  EXPECT_DOUBLE_EQ(answer->budget, 4e9);
}

}  // namespace
}  // namespace penstock::gui
