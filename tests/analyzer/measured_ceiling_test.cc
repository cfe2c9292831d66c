// SPDX-License-Identifier: Apache-2.0
//
// Grids that are given the rate of a run with --fixed-batch. The tests say for which changes this
// rate is still the ceiling.
#include <gtest/gtest.h>

#include "analyzer/whatif/grid.h"
#include "tests/analyzer/synthetic.h"

namespace penstock::analyzer {
namespace {

constexpr double kFixedRate = 600;

// A batch has four samples and takes 34 ms. A step takes 3 ms, and the copy in it 2 ms.
Diagnosis Bound() {
  testing::Synthetic run;
  run.costs = testing::Always({8, 16, 6, 4, 1, 1, 3, 2});
  return Diagnose(*testing::SyntheticTrace(run));
}

GridRequest WithCeiling() {
  GridRequest request;
  request.workers = {16};
  request.fixed_rate = kFixedRate;
  return request;
}

TEST(MeasuredCeilingTest, HoldsOnFasterCoresOnlyForAStepThatWaits) {
  Diagnosis diagnosis = Bound();
  GridRequest request = WithCeiling();
  request.changes.core_speed = 2;
  diagnosis.loader->pipeline.step_load = 0;
  const Predicted<Grid> waits = PredictGrid(diagnosis, request);
  ASSERT_TRUE(waits);
  EXPECT_TRUE(waits->ceiling_measured);
  diagnosis.loader->pipeline.step_load = 1;
  const Predicted<Grid> computes = PredictGrid(diagnosis, request);
  ASSERT_TRUE(computes);
  EXPECT_FALSE(computes->ceiling_measured);
  EXPECT_GT(computes->ceiling, 1.1 * kFixedRate);
  EXPECT_GT(computes->configurations.front().predicted.rate.estimate, 1.1 * kFixedRate);
}

TEST(MeasuredCeilingTest, DoesNotHoldOnFewerCoresThanTheStepUses) {
  Diagnosis diagnosis = Bound();
  diagnosis.loader->pipeline.step_load = 4;
  GridRequest request = WithCeiling();
  request.changes.cores = 6;
  const Predicted<Grid> enough = PredictGrid(diagnosis, request);
  ASSERT_TRUE(enough);
  EXPECT_TRUE(enough->ceiling_measured);
  request.changes.cores = 2;
  const Predicted<Grid> fewer = PredictGrid(diagnosis, request);
  ASSERT_TRUE(fewer);
  EXPECT_FALSE(fewer->ceiling_measured);
  EXPECT_LT(fewer->ceiling, kFixedRate);
}

TEST(MeasuredCeilingTest, DoesNotHoldForFasterTransformsInTheLoop) {
  Diagnosis diagnosis = Bound();
  GridRequest request = WithCeiling();
  request.scale = {{Factor::kAugment, 0.1}};
  const Predicted<Grid> elsewhere = PredictGrid(diagnosis, request);
  ASSERT_TRUE(elsewhere);
  EXPECT_TRUE(elsewhere->ceiling_measured);
  diagnosis.loader->pipeline.step_transforms = 0.8;
  const Predicted<Grid> in_loop = PredictGrid(diagnosis, request);
  ASSERT_TRUE(in_loop);
  EXPECT_FALSE(in_loop->ceiling_measured);
  EXPECT_GT(in_loop->configurations.front().predicted.rate.estimate, 1.1 * kFixedRate);
}

TEST(MeasuredCeilingTest, HasNoDelayByWorkersInItsStep) {
  Diagnosis diagnosis = Bound();
  GridRequest request = WithCeiling();
  request.workers = {0};
  const auto rate = [&](double delay) {
    diagnosis.loader->pipeline.step_delay = delay;
    const Predicted<Grid> grid = PredictGrid(diagnosis, request);
    EXPECT_TRUE(grid);
    return grid ? grid->configurations.front().predicted.rate.estimate : 0;
  };
  EXPECT_EQ(rate(0.5), rate(0));
  request.fixed_rate = 0;
  EXPECT_GT(rate(0.5), 1.02 * rate(0));
}

}  // namespace
}  // namespace penstock::analyzer
