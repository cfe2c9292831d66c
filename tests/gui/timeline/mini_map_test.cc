// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/mini_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/gui/support.h"

namespace penstock::gui {
namespace {

using traces::StageId;

// The height of what a strip shows at `x`.
float HeightAt(const std::vector<Box>& strip, float x) {
  float height = 0;
  for (const Box& box : strip) {
    if (box.x0 <= x && x < box.x1) height = std::max(height, box.top);
  }
  return height;
}

// The map had four strips, so of eight workers that began anew in each epoch those of the last one
// were missing.
TEST(MiniMapTest, AllWorkersShareAStripBelowTheLoop) {
  std::vector<std::vector<testing::TestSpan>> threads = {{{0, 1000, StageId::kWait}}};
  for (int w = 0; w < 6; ++w) threads.push_back({{100 * w, 100, StageId::kFetch}});
  threads.push_back({{500, 100, StageId::kSample}});
  const Timeline timeline = testing::TimelineOf(threads);
  const auto strips = MapStrips(timeline, {0, timeline.length, 200, 2});
  ASSERT_EQ(strips.size(), 2U);
  EXPECT_EQ(strips[0][0].stage, StageId::kWait);
  for (const float at : {10.0F, 50.0F, 90.0F}) EXPECT_NEAR(HeightAt(strips[1], at), 0.5, 1e-3);
  EXPECT_NEAR(HeightAt(strips[1], 110), 1, 1e-3);  // two workers at once
  EXPECT_EQ(HeightAt(strips[1], 150), 0);
}

// The part of a column that a stage covers at `x`.
float PartAt(const std::vector<Box>& strip, float x, StageId stage) {
  float part = 0;
  for (const Box& box : strip) {
    if (box.stage == stage && box.x0 <= x && x < box.x1) part += box.top - box.bottom;
  }
  return part;
}

// The strip was nearly solid "step", although the loop waits for 84 % of its time.
TEST(MiniMapTest, AWaitForAnotherLoaderIsShownInsteadOfTheStepAroundIt) {
  const Timeline timeline = testing::TimelineOf({{{0, 100, StageId::kWait},
                                                  {10, 50, StageId::kWait},
                                                  {100, 900, StageId::kStep},
                                                  {200, 700, StageId::kWait}}});
  const auto strips = MapStrips(timeline, {0, timeline.length, 100, 2});
  ASSERT_EQ(strips.size(), 1U);
  EXPECT_NEAR(PartAt(strips[0], 5, StageId::kWait), 1, 1e-3);
  EXPECT_NEAR(PartAt(strips[0], 15, StageId::kStep), 1, 1e-3);
  EXPECT_NEAR(PartAt(strips[0], 15, StageId::kWait), 0, 1e-3);
  EXPECT_NEAR(PartAt(strips[0], 51, StageId::kWait), 1, 1e-3);
  EXPECT_NEAR(PartAt(strips[0], 51, StageId::kStep), 0, 1e-3);
  EXPECT_NEAR(PartAt(strips[0], 95, StageId::kStep), 1, 1e-3);
}

}  // namespace
}  // namespace penstock::gui
