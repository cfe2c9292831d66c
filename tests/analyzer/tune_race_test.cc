// SPDX-License-Identifier: Apache-2.0
//
// Decisions about simulated runs whose true ratios are known.
#include "analyzer/tune/race.h"

#include <cmath>
#include <functional>
#include <random>

#include <gtest/gtest.h>

namespace penstock::analyzer {
namespace {

// Runs a race of settings whose true ratios are `truth`. The first is the program as it is.
struct SimulatedRuns {
  std::vector<double> truth;
  double noise = 0.02;  // of the logarithm of one run's rate
  double drift = 0;     // by how much the machine becomes faster from run to run
  std::vector<double> promised;
  RaceOptions options;
  std::size_t runs = 0;

  Race Run(std::mt19937& random) {
    std::vector<RaceArm> arms;
    for (std::size_t i = 1; i < truth.size(); ++i) {
      arms.push_back({i <= promised.size() ? promised[i - 1] : 0});
    }
    Race race(arms, options);
    std::normal_distribution<double> error(0, noise);
    runs = 0;
    for (auto round = race.NextRound(); !round.empty(); round = race.NextRound()) {
      std::vector<double> rates(truth.size());
      for (const std::size_t arm : round) {
        rates[arm] = 100 * truth[arm] * std::exp(error(random) + drift * static_cast<double>(runs));
        ++runs;
      }
      race.Add(rates);
    }
    return race;
  }
};

// The share of `trials` races for which `holds` is true.
double ShareOfRaces(SimulatedRuns world, const std::function<bool(const Race&)>& holds,
                    int trials = 1000) {
  std::mt19937 random(7);
  int count = 0;
  for (int i = 0; i < trials; ++i) count += holds(world.Run(random)) ? 1 : 0;
  return static_cast<double>(count) / trials;
}

TEST(TuneRaceTest, TakesNothingThatGainsNothingMoreOftenThanStated) {
  for (const double noise : {0.005, 0.02, 0.1}) {
    for (const std::size_t settings : {std::size_t{1}, std::size_t{3}}) {
      SimulatedRuns world;
      world.truth.assign(settings + 1, 1.0);
      world.noise = noise;
      // Half of the error is on the side of "faster". Three standard deviations of the share in
      // 1000 trials are 0.02.
      EXPECT_LE(ShareOfRaces(world, [](const Race& race) { return race.taken() != 0; }),
                0.05 + 0.02)
          << noise << " " << settings;
    }
  }
}

TEST(TuneRaceTest, RefutesWhatGainsLessThanIsWorthIt) {
  SimulatedRuns world;
  world.truth = {1, 0.9};
  EXPECT_GE(ShareOfRaces(world,
                         [](const Race& race) { return race.verdict(1) == TuneVerdict::kRefuted; }),
            0.95);
  // A gain of 20 % is not refuted more often than stated.
  world.truth = {1, 1.2};
  EXPECT_LE(ShareOfRaces(world,
                         [](const Race& race) { return race.verdict(1) == TuneVerdict::kRefuted; }),
            0.05 + 0.02);
}

TEST(TuneRaceTest, FindsLargeGainsInThreePairs) {
  SimulatedRuns world;
  world.truth = {1, 2};
  std::mt19937 random(1);
  const Race race = world.Run(random);
  EXPECT_EQ(race.taken(), 1u);
  EXPECT_EQ(race.rounds(), 3u);
  EXPECT_EQ(world.runs, 6u);
}

TEST(TuneRaceTest, APromiseThatIsNotKeptIsNotConfirmed) {
  SimulatedRuns world;
  world.truth = {1, 1.25};
  world.noise = 0.01;
  world.promised = {1.5};
  EXPECT_LE(ShareOfRaces(
                world, [](const Race& race) { return race.verdict(1) == TuneVerdict::kConfirmed; }),
            0.05 + 0.02);
  EXPECT_GE(ShareOfRaces(world,
                         [](const Race& race) {
                           return race.verdict(1) == TuneVerdict::kPartly && race.taken() == 1;
                         }),
            0.9);
}

TEST(TuneRaceTest, TakesTheCheaperOfTwoThatAreAsGood) {
  SimulatedRuns world;
  world.truth = {1, 1.5, 1.5};
  world.noise = 0.01;
  EXPECT_GE(ShareOfRaces(world, [](const Race& race) { return race.taken() == 1; }), 0.9);
}

TEST(TuneRaceTest, TakesTheFasterWhereTheCheaperIsWorse) {
  SimulatedRuns world;
  world.truth = {1, 1.3, 1.5};
  world.noise = 0.01;
  EXPECT_GE(ShareOfRaces(world, [](const Race& race) { return race.taken() == 2; }), 0.95);
}

TEST(TuneRaceTest, SaysThatNoiseDecidesNothing) {
  SimulatedRuns world;
  world.truth = {1, 1.08};
  world.noise = 0.2;
  EXPECT_GE(ShareOfRaces(world,
                         [](const Race& race) {
                           return race.verdict(1) == TuneVerdict::kUndecided && race.rounds() == 6;
                         }),
            0.85);
}

TEST(TuneRaceTest, ADriftOfTheMachineIsNoGain) {
  SimulatedRuns world;
  world.truth = {1, 1};
  world.noise = 0.005;
  world.drift = 0.01;  // for example because the machine cools, or another program ends
  EXPECT_LE(ShareOfRaces(world, [](const Race& race) { return race.taken() != 0; }), 0.05 + 0.02);
}

TEST(TuneRaceTest, RoundsAlternateTheirOrder) {
  Race race({{0}, {0}}, {});
  EXPECT_EQ(race.NextRound(), (std::vector<std::size_t>{0, 1, 2}));
  race.Add({100, 104, 96});
  EXPECT_EQ(race.NextRound(), (std::vector<std::size_t>{2, 1, 0}));
}

TEST(TuneRaceTest, WhatFallsBehindRunsNoMoreAndIsNotCalledRefuted) {
  Race race({{0}, {0}}, {});
  race.Add({100, 150, 101});
  race.Add({100, 151, 99});
  EXPECT_EQ(race.NextRound(), (std::vector<std::size_t>{0, 1}));
  EXPECT_TRUE(race.dropped(2));
  EXPECT_EQ(race.verdict(2), TuneVerdict::kUndecided);
}

TEST(TuneRaceTest, AMissingRunMakesNoPair) {
  Race race({{0}}, {});
  for (int i = 0; i < 3; ++i) race.Add({100, 0});
  EXPECT_EQ(race.pairs(1), 0u);
  EXPECT_EQ(race.taken(), 0u);
}

TEST(TuneRaceTest, WhatFailsIsNeverTaken) {
  Race race({{0}}, {});
  for (int i = 0; i < 3; ++i) race.Add({100, 150});
  EXPECT_EQ(race.taken(), 1u);
  race.Drop(1);
  EXPECT_EQ(race.taken(), 0u);
}

}  // namespace
}  // namespace penstock::analyzer
