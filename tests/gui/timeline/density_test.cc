// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/density.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "tests/gui/support.h"

namespace penstock::gui {
namespace {

using traces::StageId;

// Alternating reads and decodes of random length, with gaps.
Timeline Busy(int count) {
  std::mt19937 random(3);
  std::vector<testing::TestSpan> spans;
  std::int64_t at = 0;
  for (int i = 0; i < count; ++i) {
    const auto length = static_cast<std::int64_t>(random() % 900 + 100);
    spans.push_back({at, length, i % 3 == 0 ? StageId::kRead : StageId::kDecode});
    at += length + static_cast<std::int64_t>(random() % 300);
  }
  return testing::TimelineOf({spans});
}

struct Shares {
  std::array<double, wire::kStageCount> of{};
  std::size_t boxes = 0;
};

// The area that boxes cover, by stage, as a fraction of the window.
Shares Drawn(const Timeline& timeline, Window window) {
  std::vector<Box> boxes;
  LayOut(timeline.lanes[0].levels[0], timeline.length, window, boxes);
  Shares shares;
  shares.boxes = boxes.size();
  for (const Box& box : boxes) {
    EXPECT_GE(box.x0, 0);
    EXPECT_LE(box.x1, window.width + 1e-3);
    EXPECT_LE(box.x0, box.x1);
    EXPECT_GE(box.bottom, 0);
    EXPECT_LE(box.top, 1.0F + 1e-6F);
    shares.of[static_cast<std::size_t>(box.stage)] +=
        static_cast<double>((box.x1 - box.x0) * (box.top - box.bottom)) / window.width;
  }
  return shares;
}

// The same shares, computed directly from the spans.
Shares Real(const Timeline& timeline, Window window) {
  const Level& level = timeline.lanes[0].levels[0];
  Shares shares;
  for (std::size_t i = 0; i < level.size(); ++i) {
    const std::int64_t from = std::max(level.start[i], window.from);
    const std::int64_t to = std::min(level.end(i), window.to);
    if (to <= from) continue;
    shares.of[static_cast<std::size_t>(level.stage(i))] +=
        static_cast<double>(to - from) / static_cast<double>(window.to - window.from);
  }
  return shares;
}

TEST(DensityTest, BoxesCoverWhatTheSpansCoverAtEveryZoom) {
  const Timeline timeline = Busy(200'000);
  for (const std::int64_t zoom : {1, 3, 10, 40, 200, 1'000, 20'000}) {
    const std::int64_t length = timeline.length / zoom;
    const std::int64_t from = zoom == 1 ? 0 : (timeline.length - length) / 3;
    const Window window{from, from + length, 1000, 1};
    const Shares drawn = Drawn(timeline, window);
    const Shares real = Real(timeline, window);
    for (const StageId stage : {StageId::kRead, StageId::kDecode}) {
      const auto s = static_cast<std::size_t>(stage);
      // Heights are rounded to twelfths.
      EXPECT_NEAR(drawn.of[s], real.of[s], 0.05) << "zoom " << zoom;
    }
  }
}

TEST(DensityTest, NumberOfBoxesDependsOnTheWindowNotOnTheSpans) {
  const Timeline timeline = Busy(200'000);
  for (const std::int64_t zoom : {1, 7, 50, 400}) {
    const Shares drawn = Drawn(timeline, {0, timeline.length / zoom, 1000, 1});
    EXPECT_LE(drawn.boxes, 4'200U) << "zoom " << zoom;
    EXPECT_GE(drawn.boxes, 1U);
  }
}

TEST(DensityTest, AWideSpanIsABoxOfItsOwn) {
  const Timeline timeline =
      testing::TimelineOf({{{0, 500, StageId::kFetch}, {500, 500, StageId::kIdle}}});
  std::vector<Box> boxes;
  LayOut(timeline.lanes[0].levels[0], timeline.length, {0, 1000, 100, 1}, boxes);
  ASSERT_EQ(boxes.size(), 2U);
  EXPECT_EQ(boxes[0].span, 0U);
  EXPECT_EQ(boxes[1].span, 1U);
  EXPECT_NEAR(boxes[0].x1, 50, 0.5);
}

TEST(DensityTest, ALoneShortSpanStaysVisibleFromAfar) {
  std::vector<testing::TestSpan> spans;
  for (int i = 0; i < 5'000; ++i) spans.push_back({i * 1000, 900, StageId::kDecode});
  spans.push_back({9'000'000, 10, StageId::kPut});
  spans.push_back({99'999'000, 1000, StageId::kRead});
  const Timeline timeline = testing::TimelineOf({spans});
  EXPECT_GT(
      Drawn(timeline, {0, timeline.length, 500, 1}).of[static_cast<std::size_t>(StageId::kPut)], 0);
}

// In 4K, four short spans shared a column, and each was drawn a tenth of it high: 40 % for 1 %.
TEST(DensityTest, ShortSpansThatShareAColumnHaveOneLeastHeight) {
  std::vector<testing::TestSpan> spans;
  for (int i = 0; i < 4'000; ++i) spans.push_back({i * 1000, 10, StageId::kGet});
  const Timeline timeline = testing::TimelineOf({spans});
  const auto drawn = [&](double width) {
    return Drawn(timeline, {0, 4'000'000, width, 1}).of[static_cast<std::size_t>(StageId::kGet)];
  };
  EXPECT_GT(drawn(1000), 0);
  EXPECT_LE(drawn(1000), 0.1);  // the spans one by one
  EXPECT_LE(drawn(500), 0.1);   // their cells
}

TEST(DensityTest, NothingIsDrawnBesideTheTrace) {
  const Timeline timeline = Busy(5'000);
  EXPECT_EQ(Drawn(timeline, {timeline.length + 10, timeline.length + 1000, 100, 1}).boxes, 0U);
  EXPECT_EQ(Drawn(timeline, {-1000, -10, 100, 1}).boxes, 0U);
}

}  // namespace
}  // namespace penstock::gui
