// SPDX-License-Identifier: Apache-2.0
#include "gui/model/panels/loop_rate.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/analyzer/synthetic.h"

namespace penstock::gui {
namespace {

using analyzer::testing::Always;
using analyzer::testing::Synthetic;
using analyzer::testing::SyntheticTrace;

LoopRate RateOf(const Synthetic& run) {
  return BuildLoopRate(analyzer::BuildReport(*SyntheticTrace(run), "t.penstock"));
}

TEST(LoopRateTest, AllSamplesAndAllWaitingAreInTheBins) {
  Synthetic run;
  run.costs = Always({.decode = 10, .step = 2});
  const analyzer::Report report = analyzer::BuildReport(*SyntheticTrace(run), "t.penstock");
  const LoopRate loop = BuildLoopRate(report);
  ASSERT_FALSE(loop.empty());
  EXPECT_EQ(loop.rate.value.size(), 50u);
  EXPECT_NEAR(loop.rate.sum() * loop.rate.width, 200 * 4, 1);
  double waited = 0;
  for (const analyzer::Batch& batch : report.diagnosis.run.loader().batches) waited += batch.wait();
  EXPECT_NEAR(loop.wait.sum() * loop.wait.width, waited, 1e-3);
  EXPECT_LE(loop.wait.most(), 1 + 1e-9);
  EXPECT_FALSE(loop.change);
  // A bin in the middle of the run has the run's rate.
  EXPECT_NEAR(loop.rate.value[25], report.diagnosis.base_rate(),
              0.15 * report.diagnosis.base_rate());
}

TEST(LoopRateTest, ARateThatChangesForGoodIsMarkedWhereItChanges) {
  Synthetic run;
  run.batches = 800;
  run.costs = [](int, int index) {
    return analyzer::testing::Costs{.decode = 1, .step = index < 400 ? 5.0 : 20.0};
  };
  const LoopRate loop = RateOf(run);
  ASSERT_TRUE(loop.change);
  EXPECT_GT(loop.change->before, 2 * loop.change->after);
  EXPECT_GT(loop.rate.At(loop.change->at - 5 * loop.rate.width), 1.5 * loop.change->after);
  EXPECT_LT(loop.rate.At(loop.change->at + 5 * loop.rate.width), 1.5 * loop.change->after);
  LoopRate shifted = loop;
  shifted.Shift(3);
  EXPECT_DOUBLE_EQ(shifted.change->at, loop.change->at + 3);
  EXPECT_DOUBLE_EQ(shifted.rate.At(loop.change->at + 3.1), loop.rate.At(loop.change->at + 0.1));
}

TEST(LoopRateTest, AFewBatchesHaveNoRateOverTime) {
  Synthetic run;
  run.batches = 7;
  EXPECT_TRUE(RateOf(run).empty());
  run.batches = 8;
  EXPECT_EQ(RateOf(run).rate.value.size(), 2u);
}

}  // namespace
}  // namespace penstock::gui
