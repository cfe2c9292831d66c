// SPDX-License-Identifier: Apache-2.0
//
// Runs whose rate changes permanently. The report says so, and its steady figures describe the part
// after the change.
#include <cmath>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <simdjson.h>

#include "analyzer/report/html_report.h"
#include "analyzer/report/phrases.h"
#include "analyzer/report/report.h"
#include "analyzer/words/report.h"
#include "tests/analyzer/synthetic.h"

namespace penstock::analyzer {
namespace {

using testing::Costs;
using testing::Synthetic;
using testing::SyntheticTrace;

// Two workers decode for 20 ms per batch, and for `later` ms from batch 250 of 500 on. At first a
// batch comes every 11.8 ms.
Synthetic ChangesTo(double later) {
  Synthetic run;
  run.batches = 500;
  run.costs = [later](int /*epoch*/, int index) {
    return Costs{1, index < 250 ? 20 : later, 2, 0.5, 0.1, 0.3, 4, 0};
  };
  return run;
}

constexpr double kRateBefore = 4 / 11.8e-3;
constexpr double kRateAfter = 4 / 26.8e-3;  // if `later` is 50

TEST(RegimeTest, SteadyMeansTheLastOne) {
  const Diagnosis diagnosis = Diagnose(*SyntheticTrace(ChangesTo(50)));
  const SteadyState& steady = diagnosis.loader->steady;
  ASSERT_TRUE(steady.change);
  EXPECT_NEAR(static_cast<double>(steady.change->batch), 250, 16);
  EXPECT_NEAR(steady.change->before, kRateBefore, 0.05 * kRateBefore);
  EXPECT_NEAR(steady.change->after, kRateAfter, 0.05 * kRateAfter);
  EXPECT_NEAR(diagnosis.samples_rate, kRateAfter, 0.03 * kRateAfter);
  EXPECT_LT(steady.batches, 270U);
}

TEST(RegimeTest, PredictionsStartFromTheLastOne) {
  const Diagnosis diagnosis = Diagnose(*SyntheticTrace(ChangesTo(50)));
  const LoaderDiagnosis& loader = *diagnosis.loader;
  EXPECT_NEAR(loader.replay.error(), 0, 0.03);
  EXPECT_NEAR(loader.pipeline.epochs.front().batches.back().decode.wall, 50e-3, 2e-3);
  EXPECT_EQ(loader.pipeline.skipped, loader.steady.change->batch);
  EXPECT_EQ(diagnosis.bottleneck, Factor::kDecode);
  EXPECT_NEAR(loader.attribution.SpeedupOf(Factor::kDecode), 26.8 / 4.3, 1);
}

// Each worker keeps what it has decoded, so that a batch takes less and less.
Synthetic FillsItsCache() {
  Synthetic run;
  run.batches = 900;
  run.costs = [](int /*epoch*/, int index) {
    return Costs{1, 40 * std::exp(-index / 360.0), 10, 0.5, 0.1, 0.3, 4, 0};
  };
  return run;
}

TEST(DriftTest, ARateThatStillRisesIsNotSteady) {
  const Diagnosis diagnosis = Diagnose(*SyntheticTrace(FillsItsCache()));
  const SteadyState& steady = diagnosis.loader->steady;
  EXPECT_FALSE(steady.change);
  ASSERT_TRUE(steady.drift);
  EXPECT_GT(steady.drift->ratio(), 1.4);
  EXPECT_TRUE(steady.fills_cache);
  EXPECT_FALSE(steady.lasts());
  EXPECT_GE(steady.rate.high, steady.drift->last);
  EXPECT_LT(diagnosis.confidence, 0.7);
  EXPECT_NE(English(diagnosis.needs).find("it still rises from"), std::string::npos)
      << English(diagnosis.needs);
  EXPECT_NE(English(diagnosis.needs).find("each worker may fill its own"), std::string::npos);
  const auto trace = SyntheticTrace(FillsItsCache());
  const Report report = BuildReport(*trace, "run.penstock");
  EXPECT_FALSE(report.plan.missing.empty());
  EXPECT_TRUE(RateDriftOf(report.diagnosis).Is(words::kRateDrifts));
  EXPECT_NE(English(ThroughputOf(report.diagnosis)).find("NOT steady"), std::string::npos);
  EXPECT_EQ(English(WaitOf(report)).find("in the steady part"), std::string::npos)
      << English(WaitOf(report));
}

TEST(DriftTest, NoCacheFillsIfTheRateFalls) {
  Synthetic run = FillsItsCache();
  run.costs = [](int /*epoch*/, int index) {
    const double left = std::exp(-index / 360.0);
    return Costs{1, 40 * left, 90 - 80 * left, 0.5, 0.1, 0.3, 4, 0};
  };
  const SteadyState steady = Diagnose(*SyntheticTrace(run)).loader->steady;
  ASSERT_TRUE(steady.drift);
  EXPECT_FALSE(steady.drift->rises());
  EXPECT_FALSE(steady.fills_cache);
}

TEST(DriftTest, NoCacheFillsIfReadingAndDecodingTakeAsLong) {
  Synthetic run = FillsItsCache();
  run.costs = [](int /*epoch*/, int index) {
    return Costs{1, 10, 40 * std::exp(-index / 360.0), 0.5, 0.1, 0.3, 4, 0};
  };
  const Diagnosis diagnosis = Diagnose(*SyntheticTrace(run));
  ASSERT_TRUE(diagnosis.loader->steady.drift);
  EXPECT_TRUE(diagnosis.loader->steady.drift->rises());
  EXPECT_FALSE(diagnosis.loader->steady.fills_cache);
  EXPECT_EQ(English(diagnosis.needs).find("cache"), std::string::npos) << English(diagnosis.needs);
}

TEST(DriftTest, ASlowStartOrAnEvenRateIsNoDrift) {
  EXPECT_FALSE(Diagnose(*SyntheticTrace(ChangesTo(20))).loader->steady.drift);
  Synthetic run = FillsItsCache();
  run.costs = [](int /*epoch*/, int index) {
    return Costs{1, index < 120 ? 30.0 - index / 8.0 : 15, 10, 0.5, 0.1, 0.3, 4, 0};
  };
  EXPECT_FALSE(Diagnose(*SyntheticTrace(run)).loader->steady.drift);
}

TEST(RegimeTest, ARunOfOneRateHasNone) {
  EXPECT_FALSE(Diagnose(*SyntheticTrace(ChangesTo(20))).loader->steady.change);
}

TEST(RegimeTest, ASlowPartInTheMiddleIsNoChangeForGood) {
  Synthetic run = ChangesTo(20);
  run.costs = [](int /*epoch*/, int index) {
    return Costs{1, index < 200 || index >= 300 ? 20.0 : 50.0, 2, 0.5, 0.1, 0.3, 4, 0};
  };
  EXPECT_FALSE(Diagnose(*SyntheticTrace(run)).loader->steady.change);
}

TEST(RegimeTest, TheRateBeforeIsThatOfTheRegimeRightBefore) {
  Synthetic run = ChangesTo(20);
  run.costs = [](int /*epoch*/, int index) {
    const double image = index < 100 ? 20 : index < 200 ? 50 : 100;
    return Costs{1, image, 2, 0.5, 0.1, 0.3, 4, 0};
  };
  const std::optional<RegimeChange> change = Diagnose(*SyntheticTrace(run)).loader->steady.change;
  ASSERT_TRUE(change);
  EXPECT_NEAR(static_cast<double>(change->batch), 200, 16);
  EXPECT_NEAR(change->before, kRateAfter, 0.05 * kRateAfter);
}

TEST(RegimeTest, AShortEndAtAnotherRateHidesNoChange) {
  Synthetic run = ChangesTo(20);
  run.batches = 300;
  run.costs = [](int /*epoch*/, int index) {
    const double image = index < 100 ? 100 : index < 240 ? 50 : 20;  // the end takes 0.7 s
    return Costs{1, image, 2, 0.5, 0.1, 0.3, 4, 0};
  };
  const std::optional<RegimeChange> change = Diagnose(*SyntheticTrace(run)).loader->steady.change;
  ASSERT_TRUE(change);
  EXPECT_NEAR(static_cast<double>(change->batch), 100, 16);
}

TEST(RegimeTest, ADriftIsNoChange) {
  Synthetic run = ChangesTo(20);
  run.costs = [](int /*epoch*/, int index) {
    return Costs{1, 20 + 0.06 * index, 2, 0.5, 0.1, 0.3, 4, 0};
  };
  EXPECT_FALSE(Diagnose(*SyntheticTrace(run)).loader->steady.change);
}

TEST(RegimeTest, EveryReportSaysWhenAndHowMuch) {
  const auto trace = SyntheticTrace(ChangesTo(50));
  const Report report = BuildReport(*trace, "t");
  const std::string text = ReportText(report, Colour::kOff);
  EXPECT_NE(text.find("the rate changed for good"), std::string::npos) << text;
  const auto plots = BuildPlots(*trace, report);
  const std::string english = ReportHtml(report, plots, Language::kEnglish);
  EXPECT_NE(english.find("the rate changed for good"), std::string::npos);
  EXPECT_NE(ReportHtml(report, plots, Language::kChinese).find("速率变为另一水平并保持"),
            std::string::npos);
  simdjson::dom::parser parser;
  const std::string json = ReportJson(report);
  const simdjson::dom::element change = parser.parse(json)["throughput"]["change"].value();
  EXPECT_NEAR(change["at_s"].get_double().value(), 250 * 11.8e-3, 0.3);
  EXPECT_NEAR(change["before_samples_per_s"].get_double().value(), kRateBefore, 0.05 * kRateBefore);
  EXPECT_NEAR(change["after_samples_per_s"].get_double().value(), kRateAfter, 0.05 * kRateAfter);
}

}  // namespace
}  // namespace penstock::analyzer
