// SPDX-License-Identifier: Apache-2.0
#include "gui/model/panels/ranks.h"

#include <gtest/gtest.h>

#include "gui/model/cards.h"
#include "tests/analyzer/synthetic_ranks.h"

namespace penstock::gui {
namespace {

using analyzer::testing::Ranked;

RanksModel RanksOf(const Ranked& run) {
  const auto trace = traces::MakeTrace(TraceOfAll(run));
  return BuildRanks(analyzer::BuildReport(*trace, "t"));
}

TEST(RanksModelTest, TheSlowRankStandsOut) {
  Ranked run;
  run.ranks = 3;
  run.wait = [](int rank, int) { return rank == 1 ? 9.0 : 1.0; };
  const RanksModel model = RanksOf(run);
  ASSERT_EQ(model.lines.size(), 3U);
  EXPECT_EQ(model.verdict, RankVerdict::kOneSlow);
  EXPECT_EQ(model.slowest, 1);
  EXPECT_TRUE(model.lines[1].slow);
  EXPECT_TRUE(model.lines[1].verdict);
  EXPECT_FALSE(model.lines[0].slow);
  EXPECT_NEAR(model.cost, (9 - 1) / 20.2, 1e-3);
  EXPECT_NEAR(model.lines[1].held_up, model.cost, 1e-6);
  EXPECT_EQ(model.lines[2].host, "node0");
}

// Seven of eight iterations wait 1 ms, so medians would tell of another share.
TEST(RanksModelTest, WaitAndStepMakeUpTheShareThatARankWaits) {
  Ranked run;
  run.wait = [](int rank, int i) { return rank == 0 && i % 8 == 0 ? 40.0 : 1.0; };
  for (const RankLine& line : RanksOf(run).lines) {
    EXPECT_NEAR(line.data / (line.data + line.step), line.wait, 1e-9);
  }
}

TEST(RanksModelTest, EvenRanksAreSaidToBe) {
  EXPECT_EQ(RanksOf(Ranked{}).verdict, RankVerdict::kEven);
}

TEST(RanksModelTest, RanksThatTakeTurnsAreNotBlamedOneByOne) {
  Ranked run;
  run.ranks = 4;
  run.wait = [](int rank, int i) { return i % 4 == rank ? 9.0 : 1.0; };
  const RanksModel model = RanksOf(run);
  EXPECT_EQ(model.verdict, RankVerdict::kInTurn);
  for (const RankLine& line : model.lines) EXPECT_FALSE(line.slow);
}

TEST(RanksModelTest, RanksThatAreLastForLongDoNotTakeTurns) {
  Ranked run;
  run.wait = [](int rank, int i) { return i / 25 % 2 == rank ? 9.0 : 1.0; };
  const RanksModel model = RanksOf(run);
  EXPECT_EQ(model.verdict, RankVerdict::kInStretches);
  EXPECT_NEAR(model.stretch, 24, 1e-9);  // the first has 21 iterations
}

TEST(RanksModelTest, RanksThatDoNotMeetWaitForNobody) {
  Ranked run;
  run.together = false;
  run.wait = [](int rank, int) { return rank == 0 ? 9.0 : 1.0; };
  const RanksModel model = RanksOf(run);
  EXPECT_EQ(model.verdict, RankVerdict::kApart);
  EXPECT_EQ(model.lines[0].held_up, 0);
}

TEST(RankShownTest, FiguresSayOfWhichRankTheyAreAndWhatAllRanksDo) {
  Ranked run;
  run.ranks = 3;
  run.wait = [](int rank, int) { return rank == 1 ? 9.0 : 1.0; };
  const auto trace = traces::MakeTrace(TraceOfAll(run));
  analyzer::Report report = analyzer::BuildReport(*trace, "t");
  const auto shown = ShownRank(report);
  ASSERT_TRUE(shown.has_value());
  EXPECT_EQ(shown->rank, 1);
  EXPECT_EQ(shown->of, 3);
  EXPECT_TRUE(shown->waits_most);
  EXPECT_NEAR(shown->all_rate, 3 * report.diagnosis.base_rate(), 0.1 * shown->all_rate);
  EXPECT_EQ(TitleOfRank(report, Text::kReadyBatches, Language::kEnglish),
            "Finished batches  ·  rank 1");
  EXPECT_EQ(TitleOfRank(report, Text::kGpuWhereTime, Language::kEnglish),
            "Where the GPU's time goes  ·  rank 1");
  const std::vector<Card> cards = CardsOf(report, Language::kEnglish);
  EXPECT_EQ(cards[0].line, "rank 1  ·  Held back by data  ·  in the steady part");
  // The interval is that of the rank, so it stands before it.
  const std::string& line = cards[1].line;
  EXPECT_NE(line.find("rank 1 (of 0 to 2), waits most for data  ·  all ranks "), std::string::npos)
      << line;
  EXPECT_TRUE(line.ends_with(" samples/s")) << line;
  analyzer::DeviceActivity& device = report.diagnosis.loader->device;
  device.kernels = true;
  device.window = 1;
  device.computing = device.idle.loader = 0.5;
  EXPECT_EQ(CardsOf(report, Language::kEnglish)[4].line,
            "rank 1  ·  50 % of all time: the loop waits for data");
  // Steady rates do not add up to a rate of the whole run.
  report.diagnosis.whole_run = true;
  const std::string whole = CardsOf(report, Language::kEnglish)[1].line;
  EXPECT_EQ(whole.find("all ranks"), std::string::npos) << whole;
}

TEST(RankShownTest, OnlyARankThatTheOthersWaitForWaitsMostAndASingleRankHasNoName) {
  Ranked run;
  const auto even = ShownRank(analyzer::BuildReport(*traces::MakeTrace(TraceOfAll(run)), "t"));
  ASSERT_TRUE(even.has_value());
  EXPECT_FALSE(even->waits_most);
  // Rank 0 waits more, but its steps do not end together with those of rank 1.
  Ranked apart;
  apart.together = false;
  apart.wait = [](int rank, int) { return rank == 0 ? 9.0 : 1.0; };
  const auto alone = ShownRank(analyzer::BuildReport(*traces::MakeTrace(TraceOfAll(apart)), "t"));
  ASSERT_TRUE(alone.has_value());
  EXPECT_FALSE(alone->waits_most);
  run.ranks = 1;
  const auto report = analyzer::BuildReport(*traces::MakeTrace(TraceOfAll(run)), "t");
  EXPECT_FALSE(ShownRank(report).has_value());
  EXPECT_EQ(TitleOfRank(report, Text::kReadyBatches, Language::kEnglish), "Finished batches");
}

TEST(RanksModelTest, OneRankHasNoTable) {
  Ranked run;
  run.ranks = 1;
  EXPECT_TRUE(RanksOf(run).lines.empty());
}

}  // namespace
}  // namespace penstock::gui
