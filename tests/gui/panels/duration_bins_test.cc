// SPDX-License-Identifier: Apache-2.0
//
// The bins of a stage's durations.
#include <gtest/gtest.h>

#include <numeric>

#include "gui/model/panels/stages.h"

namespace penstock::gui {
namespace {

using traces::StageId;

// Steps of 75.4 to 78.4 ms were one bar from 75 to 100 ms on an axis from 10 to 100 ms.
TEST(StageBinsTest, CallsOfAboutOneLengthGetFinerBins) {
  const auto of = [](double most) {
    analyzer::DurationSketch durations;
    for (int i = 0; i <= 10; ++i) {
      durations.Add(static_cast<std::int64_t>(75.4e6 + (most - 75.4) * 1e5 * i));
    }
    return HistogramOf(durations);
  };
  const StageHistogram close = of(78.4);
  EXPECT_GT(close.EdgeOf(0), 0.060);
  EXPECT_LT(close.EdgeOf(close.bins.size()), 0.100);
  EXPECT_NEAR(std::accumulate(close.bins.begin(), close.bins.end(), 0.0), 1, 1e-9);
  EXPECT_NEAR(of(300).EdgeOf(0), 0.010, 1e-9) << "whole decades where the bars show a shape";
}

// The histogram of a selection without the shortest calls begins later than that of the whole run.
TEST(StageBinsTest, AChosenBinMeansTheSameDurationsInEveryHistogram) {
  StageHistogram whole;
  whole.first = 4 * analyzer::kBinsPerDecade;
  StageHistogram part;
  part.first = 5 * analyzer::kBinsPerDecade;
  const RowId row{StageId::kDecode, {}};
  const TailQuestion asked =
      CallsOf(row, StageBin{.number = whole.first + analyzer::kBinsPerDecade + 3});
  EXPECT_EQ(asked.id, row);
  EXPECT_DOUBLE_EQ(asked.low, whole.EdgeOf(analyzer::kBinsPerDecade + 3));
  EXPECT_DOUBLE_EQ(asked.low, part.EdgeOf(3));
  EXPECT_DOUBLE_EQ(asked.high, part.EdgeOf(4));
  EXPECT_EQ(CallsOf(row, std::nullopt), TailQuestion{.id = row}) << "all of its calls";
}

// A selection of calls of about one length has finer bins. Then all bars were dim, and the list
// still had the calls of a bin that no bar showed.
TEST(StageBinsTest, AChosenBinIsForgottenWhereTheBinsAreOfAnotherWidth) {
  const StageHistogram coarse;
  StageHistogram fine;
  fine.per_decade = 8 * analyzer::kBinsPerDecade;
  const StageBin bin{.number = 35};
  EXPECT_EQ(BinOf(coarse, bin), bin);
  EXPECT_EQ(BinOf(fine, bin), std::nullopt);
  EXPECT_EQ(BinOf(coarse, std::nullopt), std::nullopt);
}

}  // namespace
}  // namespace penstock::gui
