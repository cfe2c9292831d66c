// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/corrections.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analyzer/diagnosis/diagnosis.h"
#include "tests/analyzer/synthetic.h"

namespace penstock::analyzer {
namespace {

using testing::Costs;
using testing::Synthetic;

// Builds the input of the corrections for a trace, and its pipeline. Returns what `use` returns for
// them.
template <class Use>
auto WithInput(const traces::Trace& trace, Use use) {
  const RunModel model = BuildRunModel(trace);
  const SteadyState steady = FindSteadyState(model.loader());
  const CpuLoad load = MeasureCpuLoad(model, model.loader(), steady);
  const RecordedRun recorded = ReadRecorded(model, model.loader(), steady, load);
  Pipeline pipeline;
  pipeline.workers = model.loader().config.num_workers;
  pipeline.cores = load.own_cores;
  RecordedCosts costs = RecordedCostsOf(recorded, load, false);
  pipeline.epochs = std::move(costs.epochs);
  return use(MakeCorrectionInput(recorded, load, costs.charged, pipeline), pipeline);
}

std::vector<CorrectionEffect> EffectsOf(const Synthetic& run) {
  return WithInput(*testing::SyntheticTrace(run),
                   [](const CorrectionInput& input, Pipeline& pipeline) {
                     return ApplyCorrections(input, pipeline);
                   });
}

CpuAccount AccountOf(traces::TraceData data) {
  return WithInput(*traces::MakeTrace(std::move(data)),
                   [](const CorrectionInput& input, Pipeline&) { return input.account; });
}

const CorrectionEffect* EffectNamed(const std::vector<CorrectionEffect>& effects,
                                    std::string_view name) {
  const auto found = std::find_if(effects.begin(), effects.end(),
                                  [&](const CorrectionEffect& one) { return one.name == name; });
  return found == effects.end() ? nullptr : &*found;
}

// One of four workers takes 30 ms longer for each batch.
TEST(CorrectionsTest, SlowWorkersAreTakenOffTheirBatches) {
  Synthetic run;
  run.workers = 4;
  run.cores = 16;
  run.costs = [](int, int index) {
    Costs costs;
    costs.step = 1;
    if (index % 4 == 0) costs.augment += 30;
    return costs;
  };
  const std::vector<CorrectionEffect> effects = EffectsOf(run);
  const CorrectionEffect* slow = EffectNamed(effects, "slow-workers");
  ASSERT_NE(slow, nullptr);
  const double batches = run.batches * run.epochs;
  EXPECT_NEAR(slow->making, -30e-3 * batches / 4, 0.02 * 30e-3 * batches);
  EXPECT_EQ(slow->steps, 0);
}

TEST(CorrectionsTest, APauseIsTakenOffTheSteps) {
  Synthetic run;
  run.costs = [](int, int index) {
    Costs costs;
    costs.step = index == 60 ? 5000 : 10;
    return costs;
  };
  const std::vector<CorrectionEffect> effects = EffectsOf(run);
  const CorrectionEffect* pauses = EffectNamed(effects, "pauses");
  ASSERT_NE(pauses, nullptr);
  EXPECT_NEAR(pauses->steps, -4.99, 0.05);
  EXPECT_EQ(pauses->making, 0);
}

TEST(CorrectionsTest, ACopyThatMakesAPauseIsTakenOffToo) {
  Synthetic run;
  run.costs = [](int, int index) {
    Costs costs;
    costs.step = 10;
    costs.h2d = index == 60 ? 5000 : 2;
    return costs;
  };
  const std::vector<CorrectionEffect> effects = EffectsOf(run);
  const CorrectionEffect* pauses = EffectNamed(effects, "pauses");
  ASSERT_NE(pauses, nullptr);
  EXPECT_NEAR(pauses->steps, -4.998, 0.05);
}

// The steady time includes neither pauses nor the time between two epochs. Its CPU time is divided
// among steps, so these must leave out both too. The four batches that the workers make in a pause
// do not count either; they are 2 % of each epoch.
TEST(CorrectionsTest, StepsAreThoseOfTheSteadyTime) {
  Synthetic run;
  run.epochs = 2;
  const CpuAccount usual = AccountOf(testing::MakeSynthetic(run));
  run.costs = [](int, int index) {
    Costs costs;
    if (index == 60 || index == 199) costs.step = 5000;
    return costs;
  };
  const CpuAccount account = AccountOf(testing::MakeSynthetic(run));
  ASSERT_GT(usual.step, 0);
  EXPECT_NEAR(account.step, 0.98 * usual.step, 0.01 * usual.step);
}

// If lost fetches did not count, their CPU time in the workers' counters would seem to come from
// further threads.
TEST(CorrectionsTest, LostFetchesCountAsMuchAsTheOthers) {
  const Synthetic run{};
  traces::TraceData lossy = testing::MakeSynthetic(run);
  for (auto& spans : lossy.spans) {
    std::erase_if(spans, [](const traces::Span& span) {
      const bool fetching =
          span.stage != traces::StageId::kPut && span.stage != traces::StageId::kGet &&
          span.stage != traces::StageId::kWait && span.stage != traces::StageId::kStep;
      return fetching && span.batch.valid() && span.batch.index % 5 < 2;
    });
  }
  const CpuAccount whole = AccountOf(testing::MakeSynthetic(run));
  const CpuAccount account = AccountOf(std::move(lossy));
  ASSERT_GT(whole.fetch, 0);
  EXPECT_EQ(account.batches, whole.batches);
  EXPECT_NEAR(account.fetch, whole.fetch, 1e-6);
}

TEST(CorrectionsTest, WhatDoesNotApplyHasNoEffect) {
  const std::vector<CorrectionEffect> effects = EffectsOf(Synthetic{});
  EXPECT_EQ(EffectNamed(effects, "worker-threads"), nullptr);
  EXPECT_EQ(EffectNamed(effects, "storage-turns"), nullptr);
  for (const CorrectionEffect& effect : effects) EXPECT_NEAR(effect.making, 0, 1e-9) << effect.name;
}

TEST(CorrectionsTest, EachHasANameOfItsOwn) {
  std::vector<std::string_view> names;
  for (const Correction& correction : Corrections()) names.push_back(correction.name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

}  // namespace
}  // namespace penstock::analyzer
