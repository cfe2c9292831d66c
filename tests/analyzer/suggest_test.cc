// SPDX-License-Identifier: Apache-2.0
//
// Which settings are suggested. A setting whose gain is smaller than its uncertainty is not.
#include "analyzer/predict/suggest.h"

#include <gtest/gtest.h>

#include "analyzer/advice/rules.h"
#include "analyzer/report/report.h"
#include "analyzer/whatif/grid.h"
#include "analyzer/words/verdict.h"
#include "tests/analyzer/finds.h"
#include "tests/analyzer/synthetic.h"

namespace penstock::analyzer {
namespace {

using testing::Always;
using testing::Costs;
using testing::FindingOf;
using testing::MakeSynthetic;
using testing::Synthetic;
using testing::SyntheticTrace;

Suggestion SuggestionOf(const Synthetic& run) {
  return Diagnose(*SyntheticTrace(run)).loader->suggestion;
}

// Spawned workers start slowly: waiting for them takes longer than the rest of an epoch.
Synthetic ShortEpochs() {
  Synthetic run;
  run.workers = 2;
  run.epochs = 6;
  run.batches = 24;
  run.worker_start = 600;
  run.costs = Always(Costs{1, 10, 4, 0.5, 0.1, 0.3, 4, 0});
  return run;
}

TEST(SuggestTest, WorkersThatStayComeBeforeNone) {
  const Suggestion suggestion = SuggestionOf(ShortEpochs());
  EXPECT_TRUE(suggestion.changes);
  EXPECT_GT(suggestion.workers, 0);
  EXPECT_TRUE(suggestion.persistent_workers);
  EXPECT_GT(suggestion.predicted.speedup, 2);
  const auto finding = FindingOf("workers-restart-each-epoch", MakeSynthetic(ShortEpochs()));
  ASSERT_TRUE(finding);
  EXPECT_TRUE(finding->predicted);
}

TEST(SuggestTest, NoWorkersAreSuggestedWhereTheyAreAsFast) {
  Synthetic run = ShortEpochs();
  run.costs = Always(Costs{0.01, 0.05, 0.02, 0.01, 0.1, 0.3, 40, 0});
  const Suggestion suggestion = SuggestionOf(run);
  EXPECT_TRUE(suggestion.changes);
  EXPECT_EQ(suggestion.workers, 0);
}

// One worker is a few percent too slow for the step.
Synthetic NearlyEnough() {
  Synthetic run;
  run.workers = 1;
  run.costs = Always(Costs{1, 6, 3, 0.4, 0.1, 0.1, 10, 0});
  return run;
}

TEST(SuggestTest, AGainBelowItsOwnIntervalIsNoSuggestion) {
  const Diagnosis diagnosis = Diagnose(*SyntheticTrace(NearlyEnough()));
  const LoaderDiagnosis& loader = *diagnosis.loader;
  Setting more;
  more.workers = 2;
  const Prediction two =
      Predict(loader.pipeline, Apply(loader.pipeline, more, loader.facts), loader.replay);
  EXPECT_GT(two.speedup, 1.005);
  EXPECT_FALSE(two.SurelyGains());
  EXPECT_FALSE(loader.suggestion.changes);
  EXPECT_EQ(loader.suggestion.workers, 1);
  const std::string text =
      ReportText(BuildReport(*SyntheticTrace(NearlyEnough()), "t"), Colour::kOff);
  EXPECT_NE(text.find("Nothing to do: the training step is the limit"), std::string::npos) << text;
  EXPECT_EQ(text.find("num_workers"), std::string::npos) << text;
}

TEST(SuggestTest, FewerWorkersThatAreAsFastAreAFindingAndNoSuggestion) {
  Synthetic run;
  run.workers = 8;
  run.cores = 4;
  run.costs = Always(Costs{1, 4, 2, 0.5, 0.1, 0.3, 40, 0});
  const auto trace = SyntheticTrace(run);
  const Diagnosis diagnosis = Diagnose(*trace);
  EXPECT_FALSE(diagnosis.loader->suggestion.changes);
  EXPECT_LT(diagnosis.loader->suggestion.enough_workers, 4);
  const auto finding = FindingOf("too-many-workers", MakeSynthetic(run));
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->severity, Severity::kInfo);
  EXPECT_FALSE(finding->predicted);  // it only saves memory
}

TEST(SuggestTest, AFindingThatDoesNotSurelyGainIsForInformation) {
  Synthetic run;
  run.workers = 1;
  run.decoder = "pillow";
  run.costs = Always(Costs{0.5, 5, 4, 2.6, 0.1, 0.1, 11.5, 0});
  const auto trace = SyntheticTrace(run);
  const Diagnosis diagnosis = Diagnose(*trace);
  for (const Finding& finding : RunRules(*trace, diagnosis).findings) {
    if (!finding.predicted) continue;
    EXPECT_TRUE(finding.predicted->SurelyGains() || finding.predicted->at_most) << finding.id;
  }
  const auto collate = FindingOf("collate-slow", MakeSynthetic(run));
  ASSERT_TRUE(collate);
  EXPECT_FALSE(collate->predicted);
  EXPECT_EQ(collate->severity, Severity::kInfo);
}

TEST(SuggestTest, WhatFollowsIsTheBottleneckOfTheSameSettingInAGrid) {
  const Diagnosis diagnosis = Diagnose(*SyntheticTrace(ShortEpochs()));
  const Suggestion& suggestion = diagnosis.loader->suggestion;
  ASSERT_TRUE(suggestion.changes);
  GridRequest request;
  request.workers = {suggestion.workers};
  request.prefetch = {suggestion.prefetch};
  request.persistent = suggestion.persistent_workers;
  const auto grid = PredictGrid(diagnosis, request);
  ASSERT_TRUE(grid);
  ASSERT_EQ(grid->configurations.size(), 1U);
  EXPECT_EQ(FactorName(suggestion.next_bottleneck),
            FactorName(grid->configurations.front().bottleneck));
}

}  // namespace
}  // namespace penstock::analyzer
