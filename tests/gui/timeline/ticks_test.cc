// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/ticks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace penstock::gui {
namespace {

TEST(TicksTest, ValuesAreRoundAndInside) {
  EXPECT_THAT(RoundValues(0, 10, 5), ::testing::ElementsAre(0, 2, 4, 6, 8, 10));
  for (const double value : RoundValues(-3.3, 8.1, 6)) {
    EXPECT_GE(value, -3.3);
    EXPECT_LE(value, 8.1);
    EXPECT_FALSE(value == 0 && std::signbit(value));
  }
}

// The answer to an SQL question may hold numbers of any size.
TEST(TicksTest, LargeValuesThatHardlyDifferHaveOneTick) {
  EXPECT_THAT(RoundValues(1e18, 1e18 + 256, 8), ::testing::ElementsAre(1e18));
  EXPECT_THAT(RoundValues(-1e18 - 256, -1e18, 8), ::testing::ElementsAre(-1e18 - 256));
  EXPECT_THAT(RoundValues(0, 5e-324, 4), ::testing::ElementsAre(0));
}

TEST(TicksTest, TimesOfAnAxisCanBeToldApart) {
  for (const std::int64_t length :
       {200LL, 7'000LL, 1'000'000LL, 3'000'000'000LL, 7'200'000'000'000LL}) {
    std::set<std::string> texts;
    const auto ticks = TimeTicks(1'234'567'890, 1'234'567'890 + length, 8);
    for (const AxisTick& tick : ticks) texts.insert(tick.text);
    EXPECT_EQ(texts.size(), ticks.size()) << length;
    EXPECT_GE(ticks.size(), 2U);
  }
}

TEST(TicksTest, OneDecadeOfALogScaleHasMoreThanItsEnds) {
  const auto are = [](std::vector<double> values) {
    std::vector<::testing::Matcher<double>> all;
    for (const double value : values) all.push_back(::testing::DoubleNear(value, 1e-9));
    return ::testing::ElementsAreArray(all);
  };
  EXPECT_THAT(LogValues(0.01, 0.1), are({0.01, 0.02, 0.03, 0.05, 0.1}));
  EXPECT_THAT(LogValues(0.065, 0.09), are({0.07, 0.08, 0.09}));
  EXPECT_THAT(LogValues(0.001, 0.1), are({0.001, 0.01, 0.1}));
}

TEST(TicksTest, CountsAreShort) {
  EXPECT_EQ(CountText(7), "7");
  EXPECT_EQ(CountText(3840), "3.84k");
  EXPECT_EQ(CountText(12'345'678), "12.3M");
}

}  // namespace
}  // namespace penstock::gui
