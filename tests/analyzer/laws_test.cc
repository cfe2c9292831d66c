// SPDX-License-Identifier: Apache-2.0
//
// No predicted rate breaks a law: cores, storage, the loop's own work.
#include "analyzer/predict/laws.h"

#include <random>

#include <gtest/gtest.h>
#include <simdjson.h>

#include "analyzer/predict/predict.h"
#include "analyzer/predict/suggest.h"
#include "analyzer/report/grid_report.h"
#include "analyzer/simulate/simulate.h"
#include "analyzer/whatif/grid.h"
#include "analyzer/words/needs.h"
#include "tests/analyzer/synthetic.h"

namespace penstock::analyzer {
namespace {

using testing::Always;
using testing::Synthetic;
using testing::SyntheticTrace;

constexpr Replay kExact{100, 100};
// The recording was 1.3 times as fast as its simulation, because some cost was measured too high.
constexpr Replay kTooSlow{130, 100};

Pipeline EvenPipeline(int workers, double cores, const Demand& each) {
  Pipeline pipeline;
  pipeline.workers = workers;
  pipeline.cores = cores;
  EpochDemand epoch;
  epoch.batches.assign(64, each);
  pipeline.epochs.push_back(epoch);
  return pipeline;
}

// The message of the law that was broken; nullptr: none.
const Message* LawOf(const Pipeline& pipeline, const Replay& replay) {
  const Predicted<Interval> rate = PredictSteady(pipeline, replay);
  return rate ? nullptr : rate.error().why.message;
}

TEST(LawsTest, ARateNeedsNoMoreCpuTimeThanTheCoresHave) {
  Demand demand;
  demand.decode = {10e-3, 10e-3};
  const Pipeline full = EvenPipeline(4, 2, demand);
  EXPECT_EQ(LawOf(full, kExact), nullptr);
  EXPECT_EQ(LawOf(full, kTooSlow), &words::kBeyondCores);
  EXPECT_EQ(LawOf(EvenPipeline(1, 2, demand), kTooSlow), nullptr);  // needs only 1.3 of two cores
}

TEST(LawsTest, ARateNeedsNoMoreThanStorageGives) {
  Demand demand;
  demand.read = {10e-3, 0};
  Pipeline shared = EvenPipeline(4, 8, demand);
  EXPECT_EQ(LawOf(shared, kTooSlow), nullptr);
  shared.device_per_sample = 10e-3;
  EXPECT_EQ(LawOf(shared, kExact), nullptr);
  EXPECT_EQ(LawOf(shared, kTooSlow), &words::kBeyondStorage);
}

TEST(LawsTest, ALoopIsNotFasterThanItsOwnWork) {
  Demand demand;
  demand.decode = {1e-3, 1e-3};
  demand.step = 10e-3;
  const Pipeline bound = EvenPipeline(4, 8, demand);
  EXPECT_EQ(LawOf(bound, kExact), nullptr);
  EXPECT_EQ(LawOf(bound, kTooSlow), &words::kBeyondLoop);
  // Without workers the loop makes the batches too.
  EXPECT_EQ(LawOf(EvenPipeline(0, 8, demand), kTooSlow), &words::kBeyondLoop);
}

TEST(LawsTest, WhatIsBrokenIsSaidInBothLanguages) {
  Demand demand;
  demand.decode = {10e-3, 10e-3};
  const Predicted<Interval> rate = PredictSteady(EvenPipeline(4, 2, demand), kTooSlow);
  ASSERT_FALSE(rate);
  EXPECT_NE(English(rate.error().why).find("would need 2.6 of the 2 cores"), std::string::npos)
      << English(rate.error().why);
  EXPECT_NE(Render(rate.error().why, Language::kChinese).find("需要 2.6 个核心"),
            std::string::npos);
}

// A simulated rate always obeys the laws, because the simulator includes every cost that they
// count.
TEST(LawsTest, NoSimulatedRateBreaksOne) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> draw(0, 1);
  for (int i = 0; i < 400; ++i) {
    Pipeline pipeline;
    pipeline.workers = static_cast<int>(6 * draw(random));
    pipeline.prefetch = 1 + static_cast<int>(3 * draw(random));
    pipeline.cores = 1 + static_cast<int>(4 * draw(random));
    pipeline.in_order = draw(random) < 0.7;
    pipeline.pin_thread = draw(random) < 0.3;
    pipeline.step_load = 2 * draw(random);
    pipeline.worker_cpu = draw(random) < 0.3 ? 3e-3 * draw(random) : 0;
    pipeline.overhead = 1e-3 * draw(random);
    pipeline.feed_share = draw(random);
    pipeline.get_share = draw(random);
    pipeline.asking = draw(random) < 0.3 ? 5e-3 * draw(random) : 0;
    if (draw(random) < 0.3) pipeline.device_per_sample = 4e-3 * draw(random);
    EpochDemand epoch;
    for (int k = 0; k < 100; ++k) {
      Demand demand;
      for (const auto part : kDemandParts) {
        const double wall = 8e-3 * draw(random);
        demand.*part = {wall, wall * draw(random)};
      }
      demand.put = 1e-3 * draw(random);
      demand.feed = 2e-3 * draw(random);
      demand.get = 2e-3 * draw(random);
      demand.pin = 1e-3 * draw(random);
      demand.next = 1e-3 * draw(random);
      demand.step = 10e-3 * draw(random);
      demand.h2d = 2e-3 * draw(random);
      epoch.batches.push_back(demand);
    }
    pipeline.epochs.push_back(epoch);
    const Statement law = BrokenLaw(pipeline, SimulateSteady(pipeline).rate());
    EXPECT_TRUE(law.empty()) << "pipeline " << i << ": " << English(law);
  }
}

Diagnosis Bursting(double times) {
  Synthetic run;
  run.cores = 2;
  run.workers = 1;
  run.batch_size = 1;
  run.costs = Always({0, 20, 0, 0, 0.1, 0.1, 2, 0});
  Diagnosis diagnosis = Diagnose(*SyntheticTrace(run));
  diagnosis.loader->replay.measured *= times;
  return diagnosis;
}

TEST(LawsTest, TheGridLeavesOutRowsWithTheReason) {
  const Diagnosis diagnosis = Bursting(1.24);
  GridRequest request;
  request.workers = {1, 2, 4};
  const Predicted<Grid> grid = PredictGrid(diagnosis, request);
  ASSERT_TRUE(grid) << English(grid.error().why);
  ASSERT_EQ(grid->configurations.size(), 1u);
  EXPECT_EQ(grid->configurations.front().workers, 1);
  ASSERT_EQ(grid->left_out.size(), 2u);
  EXPECT_EQ(grid->left_out.front().workers, 2);
  EXPECT_TRUE(grid->left_out.front().why.Is(words::kBeyondCores));
  const std::string text = GridText(*grid, Colour::kOff);
  EXPECT_NE(text.find("2 workers, prefetch 2: not predicted: "), std::string::npos) << text;
  simdjson::dom::parser parser;
  simdjson::dom::element json;
  ASSERT_EQ(parser.parse(GridJson(*grid)).get(json), simdjson::SUCCESS);
  std::string_view id;
  ASSERT_EQ(json["left_out"].at(1)["why_statement"]["id"].get(id), simdjson::SUCCESS);
  EXPECT_EQ(id, "law.cores");
}

TEST(LawsTest, AGridOfWhichNothingIsLeftIsRefused) {
  GridRequest request;
  request.workers = {2, 4};
  const Predicted<Grid> grid = PredictGrid(Bursting(1.24), request);
  ASSERT_FALSE(grid);
  EXPECT_EQ(grid.error().kind, ErrorKind::kInput);  // exit status 4
  EXPECT_TRUE(grid.error().why.Is(words::kNothingLeft));
}

TEST(LawsTest, NoSettingThatBreaksOneIsSuggested) {
  const Diagnosis exact = Bursting(1);
  EXPECT_GE(exact.loader->suggestion.workers, 2);
  const Diagnosis diagnosis = Bursting(1.24);
  const LoaderDiagnosis& loader = *diagnosis.loader;
  const Suggestion suggestion =
      Suggest(loader.pipeline, loader.facts, loader.replay, BudgetOf(diagnosis.run.host));
  EXPECT_EQ(suggestion.workers, 1);
}

}  // namespace
}  // namespace penstock::analyzer
