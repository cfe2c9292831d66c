// SPDX-License-Identifier: Apache-2.0
#include "gui/model/files/sweep_grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/gui/files/sweep_samples.h"

namespace penstock::gui {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::SampleSweep;
using ::testing::StartsWith;

// A sweep over one axis with these medians.
Sweep Line(const std::vector<std::string>& values, const std::vector<double>& medians) {
  Sweep sweep;
  sweep.mode = "loader";
  sweep.axes = {{"threads", values}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    SweepCell cell;
    cell.name = "threads:" + values[i];
    cell.values = {values[i]};
    cell.state = SweepState::kMeasured;
    cell.rate = SweepRate{medians[i], medians[i], medians[i], medians[i], medians[i]};
    cell.runs = {medians[i]};
    sweep.cells.push_back(cell);
  }
  return sweep;
}

TEST(SweepGridTest, ACellWithoutAnAxisStandsAtAllItsPlaces) {
  const Sweep sweep = SampleSweep();
  const SweepGrid grid(sweep);
  EXPECT_EQ(grid.At({0, 0, 1}), std::optional<std::size_t>(0));
  EXPECT_EQ(grid.At({0, 1, 1}), std::optional<std::size_t>(0));
  EXPECT_EQ(grid.At({2, 1, 1}), sweep.best);
  EXPECT_EQ(grid.At({1, 1, 0}), std::nullopt);
}

TEST(SweepGridTest, TheTwoAxesThatMatterMostComeFirst) {
  const Sweep sweep = SampleSweep();
  const SweepGrid grid(sweep);
  const std::vector<double> influence = Influence(sweep, grid);
  ASSERT_EQ(influence.size(), 3U);
  EXPECT_GT(influence[0], influence[1]);
  EXPECT_GT(influence[1], influence[2]);
  const SweepLook look = FirstLook(sweep, grid);
  EXPECT_EQ(look.across, std::optional<std::size_t>(0));
  EXPECT_EQ(look.down, std::optional<std::size_t>(1));
  EXPECT_EQ(look.fixed[2], 1U) << "the slice of the best cell";
}

TEST(SweepGridTest, AnAxisOfOneValueIsNotShownBeforeOthers) {
  Sweep sweep = Line({"1", "2"}, {10, 11});
  sweep.axes.insert(sweep.axes.begin(), SweepAxis{"io", {"read"}});
  for (SweepCell& cell : sweep.cells) cell.values.insert(cell.values.begin(), "read");
  const SweepGrid grid(sweep);
  EXPECT_EQ(FirstLook(sweep, grid).across, std::optional<std::size_t>(1));
}

TEST(SweepGridTest, AxesChangePlacesInsteadOfMeeting) {
  SweepLook look{0, 1, {0, 0, 0}};
  look = WithAcross(look, 1);
  EXPECT_EQ(look.across, std::optional<std::size_t>(1));
  EXPECT_EQ(look.down, std::optional<std::size_t>(0));
  look = WithDown(look, 2);
  EXPECT_EQ(look.down, std::optional<std::size_t>(2));
  EXPECT_EQ(look.across, std::optional<std::size_t>(1));
}

TEST(SweepGridTest, TheMapHoldsTheSliceAndTheScaleOfAll) {
  const Sweep sweep = SampleSweep();
  const SweepGrid grid(sweep);
  SweepLook look = FirstLook(sweep, grid);
  const HeatMap map = MapOf(sweep, grid, look);
  EXPECT_EQ(map.columns, 3U);
  EXPECT_EQ(map.rows, 2U);
  EXPECT_DOUBLE_EQ(map.low, 90);
  EXPECT_DOUBLE_EQ(map.high, 420);
  EXPECT_DOUBLE_EQ(map.Part(420), 1);
  EXPECT_EQ(map.cells[map.columns + 2], sweep.best);
  look.fixed[2] = 0;  // batch 16
  const HeatMap other = MapOf(sweep, grid, look);
  EXPECT_DOUBLE_EQ(other.high, 420) << "colours mean the same in every slice";
  EXPECT_EQ(other.cells[map.columns + 1], std::nullopt);
}

TEST(SweepGridTest, CurvesLeaveOutWhatWasNotMeasured) {
  const Sweep sweep = SampleSweep();
  const SweepGrid grid(sweep);
  SweepLook look = FirstLook(sweep, grid);
  const SweepCurves all = CurvesOf(sweep, grid, look, Language::kEnglish);
  ASSERT_EQ(all.curves.size(), 2U);
  EXPECT_EQ(all.curves[0].name, "prefetch 2");
  EXPECT_EQ(all.curves[0].points.size(), 3U);
  EXPECT_FALSE(all.places);
  EXPECT_THAT(all.values, ::testing::ElementsAre(0, 2, 4)) << "no tick at 3, which has no cell";
  EXPECT_DOUBLE_EQ(all.curves[0].points[2].x, 4);
  look.fixed[2] = 0;
  const SweepCurves few = CurvesOf(sweep, grid, look, Language::kEnglish);
  EXPECT_EQ(few.curves[0].points.size(), 2U);
}

TEST(SweepGridTest, ValuesFarApartOrInWordsStandSideBySide) {
  const auto places = [](const std::vector<std::string>& values) {
    const Sweep sweep = Line(values, std::vector<double>(values.size(), 5));
    const SweepGrid grid(sweep);
    return CurvesOf(sweep, grid, FirstLook(sweep, grid), Language::kEnglish).places;
  };
  EXPECT_FALSE(places({"0", "1", "4", "16"}));
  EXPECT_TRUE(places({"16", "64", "1024"}));
  EXPECT_TRUE(places({"read", "mmap"}));
  EXPECT_TRUE(places({"4", "2"}));
}

TEST(SweepGridTest, ManyRowsKeepTheCurveOfTheBest) {
  Sweep sweep;
  sweep.mode = "loader";
  sweep.axes = {{"workers", {"1", "2"}}, {"batch", {}}};
  for (int b = 0; b < 30; ++b) sweep.axes[1].values.push_back(std::to_string(b));
  for (int w = 0; w < 2; ++w) {
    for (int b = 0; b < 30; ++b) {
      const double rate = 100.0 * (w + 1) + (b == 17 ? 50 : 0);
      SweepCell cell = Line({"1"}, {rate}).cells[0];
      cell.values = {std::to_string(w + 1), std::to_string(b)};
      sweep.cells.push_back(cell);
    }
  }
  sweep.best = 30 + 17;
  const SweepGrid grid(sweep);
  const SweepCurves curves = CurvesOf(sweep, grid, SweepLook{0, 1, {0, 0}}, Language::kEnglish);
  EXPECT_LE(curves.curves.size(), 8U);
  EXPECT_EQ(curves.left_out, 30 - curves.curves.size());
  const bool there = std::any_of(curves.curves.begin(), curves.curves.end(),
                                 [](const SweepCurve& curve) { return curve.colour == 17; });
  EXPECT_TRUE(there);
}

TEST(SweepTextsTest, TheSentenceNamesTheBestAndWhatIsCheaper) {
  const Sweep sweep = SampleSweep();
  const SweepAnswer answer = AnswerOf(sweep, Language::kEnglish);
  EXPECT_EQ(answer.sentence,
            "Best: workers 4, prefetch 4, batch 64 with 420 samples/s (400 to 430 in 3 runs)");
  EXPECT_THAT(answer.second, HasSubstr("workers 2, prefetch 4, batch 64 reaches 99 %"));
  const SweepAnswer chinese = AnswerOf(sweep, Language::kChinese);
  EXPECT_THAT(chinese.sentence, HasSubstr("420"));
  EXPECT_NE(chinese.sentence, answer.sentence);
}

TEST(SweepTextsTest, TheSuggestedSettingIsNotOneMoreThatIsAsGood) {
  Sweep sweep = SampleSweep();
  sweep.cells[*sweep.suggested].within_noise = true;
  EXPECT_THAT(AnswerOf(sweep, Language::kEnglish).second,
              ::testing::Not(HasSubstr("told from the best")));
  sweep.cells[3].within_noise = true;
  sweep.cells[3].rate->most = sweep.cells[*sweep.best].rate->least;
  EXPECT_THAT(AnswerOf(sweep, Language::kEnglish).second,
              ::testing::EndsWith("cannot be told from the best: 1 more"));
}

// All runs of one setting (2,082 to 2,083) were slower than all of the best (2,098 to 2,138).
TEST(SweepTextsTest, ASettingWhollyBelowTheBestIsOnlyNearIt) {
  Sweep sweep = SampleSweep();
  SweepCell& cell = sweep.cells[3];
  cell.within_noise = true;
  sweep.cells[1].within_noise = true;
  sweep.cells[1].rate->most = sweep.cells[*sweep.best].rate->least;
  EXPECT_THAT(AnswerOf(sweep, Language::kEnglish).second,
              ::testing::EndsWith(
                  "; cannot be told from the best: 1 more; slower, but within 2 % of it: 1 more"));
  // The table called it "as good".
  cell.of_best = 0.99;
  EXPECT_EQ(CellText(sweep, cell, SweepColumn::kNote, Language::kEnglish), "slower, within 2 %");
}

TEST(SweepTextsTest, WhereNothingWasMeasuredTheReasonIsSaid) {
  Sweep sweep = SampleSweep();
  for (SweepCell& cell : sweep.cells) {
    cell.rate.reset();
    cell.state = SweepState::kFailed;
    cell.error = "status 127";
  }
  sweep.best.reset();
  sweep.suggested.reset();
  EXPECT_THAT(AnswerOf(sweep, Language::kEnglish).second, HasSubstr("status 127"));
}

TEST(SweepTextsTest, AnAblationNamesTheDearestStep) {
  Sweep sweep;
  sweep.mode = "ablation";
  const auto add = [&](const char* name, double seconds, std::optional<double> increment) {
    SweepCell cell;
    cell.name = name;
    cell.state = SweepState::kMeasured;
    cell.rate = SweepRate{1 / seconds, 1 / seconds, 1 / seconds, 0, 0};
    cell.seconds_per_sample = seconds;
    cell.increment = increment;
    sweep.cells.push_back(cell);
  };
  add("read", 0.001, std::nullopt);
  add("read + decode", 0.008, 0.007);
  add("  + flip, resize", 0.010, 0.002);
  add("  + all", 0.020, 0.012);
  const std::string text = AnswerOf(sweep, Language::kEnglish).sentence;
  EXPECT_THAT(text, HasSubstr("step is decode:"));
  EXPECT_THAT(text, HasSubstr("35 %"));
  EXPECT_FALSE(FirstLook(sweep, SweepGrid(sweep)).across);
}

TEST(SweepTextsTest, TheNoteCountsWhatIsMissing) {
  const std::string note = SweepNote(SampleSweep(), Language::kEnglish);
  EXPECT_THAT(note, HasSubstr("python train.py"));
  EXPECT_THAT(note, HasSubstr("7 of 9 settings"));
  EXPECT_THAT(note, HasSubstr("1 failed"));
  EXPECT_THAT(note, HasSubstr("interrupted, 1 not measured"));
}

TEST(SweepTextsTest, ACellThatIsAsGoodIsExplained) {
  Sweep sweep = SampleSweep();
  sweep.tie = 0.03;
  SweepCell& cell = sweep.cells[2];
  EXPECT_EQ(NoteTip(sweep, cell, Language::kEnglish), "");
  cell.within_noise = true;
  const std::string tip = NoteTip(sweep, cell, Language::kEnglish);
  EXPECT_THAT(tip, StartsWith("as good\n"));
  EXPECT_THAT(tip, HasSubstr("within 3 %"));
  EXPECT_THAT(NoteTip(sweep, cell, Language::kChinese), HasSubstr("3 %"));
  EXPECT_THAT(NoteTip(sweep, sweep.cells[7], Language::kEnglish), HasSubstr("out of memory"));
}

TEST(SweepTextsTest, ACellWhoseRunsOnlyOverlapIsNotCalledAsGood) {
  Sweep sweep = SampleSweep();
  SweepCell& cell = sweep.cells[3];  // 71 % of the best
  cell.within_noise = true;
  const auto note = [&](Language language) {
    return CellText(sweep, cell, SweepColumn::kNote, language);
  };
  EXPECT_EQ(note(Language::kEnglish), "not told apart (3 runs)");
  EXPECT_EQ(note(Language::kChinese), "与最佳无法区分（3 次运行）");
}

TEST(SweepTextsTest, RowsSortByNumbersAndUnmeasuredOnesComeLast) {
  const Sweep sweep = SampleSweep();
  const auto order = SortedCells(sweep, 3, true);  // samples/s
  EXPECT_EQ(order.front(), *sweep.best);
  EXPECT_GE(order[7], 7U);
  EXPECT_GE(order[8], 7U);
  const auto up = SortedCells(sweep, 3, false);
  EXPECT_DOUBLE_EQ(sweep.cells[up.front()].rate->median, 90);
  EXPECT_GE(up[8], 7U);
  EXPECT_EQ(SortedCells(sweep, -1, true)[5], 5U);
  const Sweep numbers = Line({"10", "9", "100"}, {1, 2, 3});
  EXPECT_THAT(SortedCells(numbers, 0, false), ElementsAre(1, 0, 2));
  const Sweep words = Line({"2", "nan", "1"}, {1, 2, 3});
  EXPECT_THAT(SortedCells(words, 0, false), ElementsAre(2, 0, 1));
}

TEST(SweepTextsTest, TheLineToPasteIsTheCells) {
  const Sweep sweep = SampleSweep();
  EXPECT_EQ(SettingsLine(sweep, sweep.cells[*sweep.best]),
            "num_workers=4, prefetch_factor=4, batch_size=64");
  EXPECT_EQ(SettingsLine(sweep, sweep.cells[0]), "num_workers=0, batch_size=64");
  Sweep loader = Line({"2"}, {5});
  loader.subject = {"penstock-load", "my data"};
  EXPECT_EQ(SettingsLine(loader, loader.cells[0]), "penstock-load 'my data' --threads 2");
}

TEST(SweepTextsTest, ALongLineToPasteIsWhole) {
  Sweep loader = Line({"2"}, {5});
  const std::string folder(1000, 'd');
  loader.subject = {"penstock-load", folder};
  EXPECT_EQ(SettingsLine(loader, loader.cells[0]), "penstock-load " + folder + " --threads 2");
}

TEST(SweepTextsTest, TheTraceIsThatOfTheRunNextToTheMedian) {
  const Sweep sweep = SampleSweep();
  EXPECT_EQ(TraceOf(sweep.cells[*sweep.best]), "/runs/run-0022.penstock");
  EXPECT_TRUE(TraceOf(sweep.cells[0]).empty());
}

TEST(SweepTextsTest, LargeRatesHaveCommas) {
  EXPECT_EQ(RateText(12345.6, Language::kEnglish), "12,346 samples/s");
  EXPECT_EQ(RateText(1234567, Language::kEnglish), "1,234,567 samples/s");
  EXPECT_EQ(RateText(412.3, Language::kEnglish), "412 samples/s");
}

}  // namespace
}  // namespace penstock::gui
