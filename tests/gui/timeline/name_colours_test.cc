// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/name_colours.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gui/model/palette.h"
#include "gui/model/timeline/density.h"
#include "tests/gui/support.h"

namespace penstock::gui {
namespace {

using traces::StageId;

constexpr const char* kConv = "aten::conv2d";
constexpr const char* kAdd = "aten::add_";
constexpr const char* kMul = "aten::mul";
constexpr const char* kLaunch = "cudaLaunchKernel";

testing::TestSpan Named(std::int64_t at, std::int64_t length, const char* name,
                        StageId stage = StageId::kMark) {
  return {at, length, stage, wire::kNoBatch, name};
}

// Operators of an import, 1 us apart: in the first half convolutions and short additions, in the
// second half multiplications.
Timeline Operators(int count) {
  std::vector<testing::TestSpan> spans;
  for (int i = 0; i < count / 2; ++i) {
    spans.push_back(i % 2 == 0 ? Named(i * 1000, 900, kConv) : Named(i * 1000, 100, kAdd));
  }
  for (int i = count / 2; i < count; ++i) spans.push_back(Named(i * 1000, 900, kMul));
  return testing::TimelineOf({spans});
}

std::vector<Box> BoxesOf(const Timeline& timeline, double width) {
  std::vector<Box> boxes;
  LayOut(timeline.lanes[0].levels[0], timeline.length, {0, timeline.length, width, 1}, boxes);
  return boxes;
}

void ExpectTheColoursOfTheHalves(const std::vector<Box>& boxes, float width) {
  ASSERT_NE(ColourOfName(kConv), ColourOfName(kMul));
  ASSERT_FALSE(boxes.empty());
  for (const Box& box : boxes) {
    EXPECT_EQ(box.span, Box::kMany);
    const bool second = box.x0 > width / 2 + 1;
    if (!second && box.x0 > width / 2 - 2) continue;  // a column with both
    EXPECT_EQ(box.colour, ColourOfName(second ? kMul : kConv)) << box.x0;
    EXPECT_NE(SpanColour(box.stage, box.colour, Theme::kDark),
              StageColour(StageId::kMark, Theme::kDark));
  }
}

TEST(NameColoursTest, OperatorsKeepTheirColourWhereCellsStandForThem) {
  const Timeline timeline = Operators(20'000);
  ASSERT_FALSE(timeline.lanes[0].levels[0].density.empty());
  for (const double width : {50.0, 200.0, 1000.0}) {
    ExpectTheColoursOfTheHalves(BoxesOf(timeline, width), static_cast<float>(width));
  }
}

TEST(NameColoursTest, OperatorsKeepTheirColourWhereAColumnHoldsAFewOfThem) {
  const Timeline timeline = Operators(800);
  ASSERT_TRUE(timeline.lanes[0].levels[0].density.empty());
  ExpectTheColoursOfTheHalves(BoxesOf(timeline, 250), 250);
}

TEST(NameColoursTest, RangesAndCallsOfOneColumnHaveTheirOwnColours) {
  std::vector<testing::TestSpan> spans;
  for (int i = 0; i < 6'000; ++i) {
    spans.push_back(i % 2 == 0 ? Named(i * 1000, 900, kMul)
                               : Named(i * 1000, 900, kLaunch, StageId::kCall));
  }
  ASSERT_NE(ColourOfName(kMul), ColourOfName(kLaunch));
  const std::vector<Box> boxes = BoxesOf(testing::TimelineOf({spans}), 100);
  ASSERT_GE(boxes.size(), 2U);
  for (const Box& box : boxes) {
    EXPECT_EQ(box.colour, ColourOfName(box.stage == StageId::kCall ? kLaunch : kMul));
  }
}

TEST(NameColoursTest, OtherStagesKeepTheirColourWhateverTheirSpansAreCalled) {
  std::vector<testing::TestSpan> spans;
  for (int i = 0; i < 6'000; ++i) spans.push_back(Named(i * 1000, 900, "jpeg", StageId::kDecode));
  const Timeline timeline = testing::TimelineOf({spans});
  EXPECT_TRUE(timeline.lanes[0].levels[0].colours.empty());
  EXPECT_TRUE(timeline.names.empty());
  for (const Box& box : BoxesOf(timeline, 100)) {
    EXPECT_EQ(SpanColour(box.stage, box.colour, Theme::kLight),
              StageColour(StageId::kDecode, Theme::kLight));
  }
}

TEST(NameColoursTest, TheLegendListsTheNamesThatTakeMostTime) {
  const Timeline timeline = Operators(1'000);
  ASSERT_EQ(timeline.names.size(), 3U);
  EXPECT_EQ(timeline.names[0].colour, ColourOfName(kMul));
  EXPECT_EQ(timeline.names[0].time, 500 * 900);
  EXPECT_EQ(timeline.names[1].colour, ColourOfName(kConv));
  EXPECT_EQ(timeline.names[2].colour, ColourOfName(kAdd));
  // The swatch of "mark" was grey, which no span was.
  const std::vector<std::uint8_t> swatch = timeline.ColoursOf(StageId::kMark);
  ASSERT_FALSE(swatch.empty());
  EXPECT_EQ(swatch.front(), ColourOfName(kMul));
  EXPECT_TRUE(timeline.ColoursOf(StageId::kDecode).empty());
  std::vector<testing::TestSpan> many;
  for (int i = 0; i < 40; ++i) {
    many.push_back({i * 1000, i + 1, StageId::kMark, wire::kNoBatch, "op" + std::to_string(i)});
  }
  const Timeline other = testing::TimelineOf({many});
  ASSERT_EQ(other.names.size(), 12U);
  EXPECT_EQ(other.names.front().time, 40);
}

}  // namespace
}  // namespace penstock::gui
