// SPDX-License-Identifier: Apache-2.0
#include "gui/model/counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock::gui {
namespace {

using ::testing::ElementsAre;

CounterTrack Steps() {
  return {CounterKind::kCpu, 0, {{100, 1}, {200, 3}, {300, 2}}, 3};
}

TEST(CountersTest, AValueHoldsUntilTheNext) {
  const CounterTrack track = Steps();
  EXPECT_EQ(ValueAt(track, 99), 0);
  EXPECT_EQ(ValueAt(track, 100), 1);
  EXPECT_EQ(ValueAt(track, 299), 3);
  EXPECT_EQ(ValueAt(track, 1000), 2);
}

TEST(CountersTest, ResamplingKeepsTheHighestValueOfAColumn) {
  EXPECT_THAT(Resample(Steps(), 100, 300, 2), ElementsAre(1, 3));
  EXPECT_THAT(Resample(Steps(), 0, 400, 1), ElementsAre(3));
}

TEST(CountersTest, NothingIsDrawnBeforeTheFirstAndAfterTheLastValue) {
  EXPECT_THAT(Resample(Steps(), 0, 500, 5), ElementsAre(-1, 1, 3, 2, -1));
}

}  // namespace
}  // namespace penstock::gui
