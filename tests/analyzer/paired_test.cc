// SPDX-License-Identifier: Apache-2.0
//
// Compares intervals of paired trials with tables, and with simulated trials of a known ratio.
#include "analyzer/stats/paired.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace penstock::analyzer {
namespace {

TEST(StudentBoundTest, AgreesWithTables) {
  EXPECT_NEAR(StudentBound(0.05, 1), 12.706, 1e-3);
  EXPECT_NEAR(StudentBound(0.05, 2), 4.3027, 1e-4);
  EXPECT_NEAR(StudentBound(0.1, 3), 2.3534, 1e-4);
  EXPECT_NEAR(StudentBound(0.01, 4), 4.6041, 1e-4);
  EXPECT_NEAR(StudentBound(0.05, 5), 2.5706, 1e-4);
  EXPECT_NEAR(StudentBound(0.001, 10), 4.5869, 1e-4);
  EXPECT_NEAR(StudentBound(0.05, 1000), 1.9623, 1e-4);
}

TEST(PairedRatioTest, KnowsNothingBelowThreePairs) {
  PairedRatio ratio;
  ratio.Add(20, 10);
  ratio.Add(20, 10);
  EXPECT_FALSE(ratio.known());
  EXPECT_EQ(ratio.ratio().low, 0);
  EXPECT_TRUE(std::isinf(ratio.ratio().high));
  EXPECT_NEAR(ratio.ratio().estimate, 2, 1e-9);
  ratio.Add(20, 10);
  EXPECT_TRUE(ratio.known());
  EXPECT_NEAR(ratio.ratio().low, 2, 1e-9);
}

TEST(PairedRatioTest, IsTheTIntervalAtTheFirstLook) {
  PairedRatio ratio({0.1, 3});
  const double logs[] = {0.10, 0.13, 0.16};
  for (const double log : logs) ratio.Add(std::exp(log), 1);
  const double half = 4.3027 * 0.03 / std::sqrt(3.0);  // the first look gets half of the error
  EXPECT_NEAR(std::log(ratio.ratio().low), 0.13 - half, 1e-4);
  EXPECT_NEAR(std::log(ratio.ratio().high), 0.13 + half, 1e-4);
}

TEST(PairedRatioTest, NeverWidens) {
  std::mt19937 random(3);
  std::normal_distribution<double> noise(0.1, 0.05);
  PairedRatio ratio;
  Interval before{0, 0, std::numeric_limits<double>::infinity()};
  for (int i = 0; i < 10; ++i) {
    ratio.Add(std::exp(noise(random)), 1);
    EXPECT_GE(ratio.ratio().low, before.low);
    EXPECT_LE(ratio.ratio().high, before.high);
    before = ratio.ratio();
  }
}

// The share of trials in which any look, after two to ten pairs, misses the truth.
template <class Noise>
double MissedByLooks(double truth, Noise noise) {
  constexpr int kTrials = 4000;
  std::mt19937 random(1);
  int missed = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    PairedRatio ratio({0.1, 3});
    bool miss = false;
    for (int pair = 0; pair < 10; ++pair) {
      ratio.Add(std::exp(truth + noise(random)), 1);
      if (!ratio.known()) continue;
      miss = miss || std::log(ratio.ratio().low) > truth || std::log(ratio.ratio().high) < truth;
    }
    missed += miss ? 1 : 0;
  }
  return static_cast<double>(missed) / kTrials;
}

TEST(PairedRatioTest, AllLooksTogetherMissAsOftenAsStated) {
  // With a true share of 0.1, three standard deviations of the share in 4000 trials are 0.014.
  EXPECT_LE(MissedByLooks(0.2, std::normal_distribution<double>(0, 0.05)), 0.114);
  // Runs whose variation has longer tails than the normal distribution widen the interval.
  std::student_t_distribution<double> tails(3);
  EXPECT_LE(MissedByLooks(0.2, [&](auto& random) { return 0.03 * tails(random); }), 0.114);
  // In one run of eight, another program slows the run down.
  EXPECT_LE(MissedByLooks(0.0,
                          [](auto& random) {
                            std::uniform_real_distribution<double> chance(0, 1);
                            std::normal_distribution<double> small(0, 0.02);
                            double noise = small(random) - small(random);
                            if (chance(random) < 0.125) noise -= 0.3;
                            if (chance(random) < 0.125) noise += 0.3;
                            return noise;
                          }),
            0.114);
}

}  // namespace
}  // namespace penstock::analyzer
