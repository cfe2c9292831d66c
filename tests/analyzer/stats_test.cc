// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analyzer/stats/bootstrap.h"
#include "analyzer/stats/quantile.h"
#include "analyzer/stats/shift.h"
#include "analyzer/stats/sketch.h"
#include "analyzer/stats/slope.h"

namespace penstock::analyzer {
namespace {

TEST(QuantileTest, InterpolatesLikeTypeSeven) {
  const std::vector<double> sorted = {1, 2, 4, 8};
  EXPECT_DOUBLE_EQ(Quantile(sorted, 0), 1);
  EXPECT_DOUBLE_EQ(Quantile(sorted, 0.5), 3);
  EXPECT_DOUBLE_EQ(Quantile(sorted, 0.9), 6.8);  // R: quantile(c(1,2,4,8), 0.9, type = 7)
  EXPECT_DOUBLE_EQ(Quantile(sorted, 1), 8);
}

TEST(QuantileTest, OfNothingIsZero) {
  EXPECT_EQ(Quantile({}, 0.5), 0);
}

TEST(SummaryTest, LeavesOutWhatIsNotFinite) {
  const std::vector<double> values = {1, 2, 3, NAN, INFINITY};
  const Summary summary = Summarize(values);
  EXPECT_EQ(summary.count, 3u);
  EXPECT_DOUBLE_EQ(summary.mean, 2);
  EXPECT_DOUBLE_EQ(summary.sd, 1);
}

TEST(TheilSenTest, IgnoresAFifthOfOutliers) {
  std::vector<double> x;
  std::vector<double> y;
  for (int i = 0; i < 50; ++i) {
    x.push_back(i);
    y.push_back(i % 5 == 0 ? 1000.0 : 3.0 * i + 1);
  }
  EXPECT_NEAR(TheilSenSlope(x, y), 3, 0.05);
}

TEST(DurationSketchTest, StaysWithinItsErrorBeyondTheExactPart) {
  DurationSketch sketch;
  std::vector<double> values;
  std::mt19937_64 random(3);
  std::lognormal_distribution<double> draw(14, 2);
  for (int i = 0; i < 100000; ++i) {
    values.push_back(std::floor(draw(random)));
    sketch.Add(static_cast<std::int64_t>(values.back()));
  }
  std::sort(values.begin(), values.end());
  for (const double p : {0.01, 0.5, 0.9, 0.99, 0.999}) {
    const double truth = Quantile(values, p) * 1e-9;
    EXPECT_NEAR(sketch.Quantile(p), truth, 0.01 * truth) << p;
  }
}

TEST(DurationSketchTest, MergesExactAndSpilled) {
  DurationSketch few;
  DurationSketch many;
  for (int i = 1; i <= 100; ++i) few.Add(1000);
  for (int i = 1; i <= 10000; ++i) many.Add(2000);
  few.Merge(many);
  EXPECT_EQ(few.count(), 10100u);
  EXPECT_NEAR(few.Quantile(0.5), 2000e-9, 20e-9);
}

// Buckets counted whole: 90,662 of these values were said to be below 8.98 ms, not 80,000.
TEST(DurationSketchTest, CountsAPartOfABucketBelowALimit) {
  DurationSketch sketch;
  for (std::int64_t i = 0; i < 200'000; ++i) sketch.Add(8'500'000 + 6 * i);
  double before = 0;
  for (const double limit : {8.53, 8.6596, 8.9, 8.98, 9.3, 9.69}) {
    const double truth = (limit - 8.5) / 6e-6;
    EXPECT_NEAR(static_cast<double>(sketch.CountBelow(limit * 1e-3)), truth, 100) << limit;
    EXPECT_GT(static_cast<double>(sketch.CountBelow(limit * 1e-3)), before);
    before = static_cast<double>(sketch.CountBelow(limit * 1e-3));
  }
  EXPECT_EQ(sketch.CountBelow(1), 200'000U);
  EXPECT_EQ(sketch.CountBelow(0), 0U);
}

TEST(HistogramTest, PutsOutsidersIntoTheEndBins) {
  const std::vector<double> values = {-5, 0.1, 0.9, 1.5, 99};
  EXPECT_EQ(Histogram(values, 0, 2, 2), (std::vector<std::uint64_t>{3, 2}));
}

TEST(BootstrapTest, CoversTheMeanAboutAsOftenAsItSays) {
  std::mt19937_64 random(11);
  std::exponential_distribution<double> draw(1);
  int covered = 0;
  constexpr int kTrials = 200;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> values(60);
    for (double& value : values) value = draw(random);
    BootstrapOptions options;
    options.seed = static_cast<std::uint64_t>(trial);
    const Interval interval = BootstrapMean(values, options);
    if (interval.low <= 1 && 1 <= interval.high) ++covered;
  }
  EXPECT_GT(covered, 0.8 * kTrials);
  EXPECT_LT(covered, 0.97 * kTrials);
}

TEST(BootstrapTest, RepeatsItselfForASeed) {
  const std::vector<double> values = {1, 5, 2, 8, 3, 9, 4, 7, 6, 2};
  const Interval a = BootstrapMean(values, {});
  const Interval b = BootstrapMean(values, {});
  EXPECT_EQ(a.low, b.low);
  EXPECT_EQ(a.high, b.high);
}

TEST(BootstrapTest, FewValuesGiveAWideInterval) {
  const std::vector<double> values = {2, 2, 2};
  const Interval interval = BootstrapMean(values, {});
  EXPECT_EQ(interval.low, 1);
  EXPECT_EQ(interval.high, 3);
}

// For each level, as many values as its count, with noise of up to 10 % in both directions.
std::vector<double> Levels(const std::vector<std::pair<double, int>>& levels) {
  std::mt19937 random(3);
  std::vector<double> values;
  for (const auto& [level, count] : levels) {
    for (int i = 0; i < count; ++i) {
      values.push_back(level * (0.9 + 0.2 * static_cast<double>(random() % 1000) / 1000));
    }
  }
  return values;
}

TEST(ShiftTest, FindsWhereALevelBegins) {
  EXPECT_EQ(FindShifts(Levels({{10, 30}, {15, 20}})), std::vector<std::size_t>{30});
}

TEST(ShiftTest, FindsEachOfSeveral) {
  const std::vector<std::size_t> found = FindShifts(Levels({{10, 20}, {20, 20}, {40, 20}}));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NEAR(static_cast<double>(found[0]), 20, 3);
  EXPECT_EQ(found[1], 40U);
}

TEST(ShiftTest, FindsThoseBeforeTheClearestOne) {
  const std::vector<std::size_t> found = FindShifts(Levels({{40, 20}, {20, 20}, {10, 60}}));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0], 20U);
  EXPECT_NEAR(static_cast<double>(found[1]), 40, 3);
}

TEST(ShiftTest, OneLevelHasNone) {
  EXPECT_TRUE(FindShifts(Levels({{10, 60}})).empty());
}

TEST(ShiftTest, ALittleMoreIsNone) {
  EXPECT_TRUE(FindShifts(Levels({{10, 30}, {11.5, 30}})).empty());
}

TEST(ShiftTest, WhatComesBackIsNone) {
  EXPECT_TRUE(FindShifts(Levels({{10, 25}, {20, 10}, {10, 25}})).empty());
}

TEST(ShiftTest, AStraightLineIsNone) {
  std::vector<double> values;
  for (int i = 0; i < 60; ++i) values.push_back(10 + 0.5 * i);
  EXPECT_TRUE(FindShifts(values).empty());
}

TEST(ShiftTest, AStraightLineOfFewValuesIsNone) {
  for (int count = 16; count < 60; ++count) {
    std::vector<double> rising;
    for (int i = 0; i < count; ++i) rising.push_back(10 + 20.0 * i / count);
    EXPECT_TRUE(FindShifts(rising).empty()) << count;
    const std::vector<double> falling(rising.rbegin(), rising.rend());
    EXPECT_TRUE(FindShifts(falling).empty()) << count;
  }
}

TEST(ShiftTest, FindsAShiftOfFewValues) {
  EXPECT_EQ(FindShifts(Levels({{10, 8}, {15, 8}})), std::vector<std::size_t>{8});
  EXPECT_EQ(FindShifts(Levels({{20, 12}, {10, 10}})), std::vector<std::size_t>{12});
}

TEST(ShiftTest, AFewValuesHaveNone) {
  EXPECT_TRUE(FindShifts(Levels({{10, 7}, {20, 8}})).empty());
  EXPECT_TRUE(FindShifts({}).empty());
}

}  // namespace
}  // namespace penstock::analyzer
