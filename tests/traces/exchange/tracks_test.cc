// SPDX-License-Identifier: Apache-2.0
#include "traces/exchange/tracks.h"

#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "traces/names.h"

namespace penstock::traces {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

Span Between(std::int64_t start, std::int64_t end) {
  Span span;
  span.start.value = start;
  span.duration.value = end - start;
  return span;
}

struct Placed {
  std::vector<std::uint32_t> tracks;
  std::vector<std::pair<std::uint32_t, std::int64_t>> ended;
};

Placed PlaceAll(const std::vector<Span>& spans) {
  Placed placed;
  Nesting nesting;
  const auto ended = [&](std::uint32_t track, TimeNs end) {
    placed.ended.emplace_back(track, end.value);
  };
  for (const Span& span : spans) placed.tracks.push_back(nesting.Place(span, ended));
  nesting.Finish(ended);
  return placed;
}

TEST(NestingTest, SpansThatNestShareATrackAndEndInsideOut) {
  const Placed placed = PlaceAll({Between(0, 10), Between(0, 5), Between(5, 10), Between(6, 7)});
  EXPECT_THAT(placed.tracks, ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(placed.ended, ElementsAre(Pair(0, 5), Pair(0, 7), Pair(0, 10), Pair(0, 10)));
}

TEST(NestingTest, ASpanThatOutlivesTheOneAroundItGoesToAnotherTrack) {
  const Placed placed = PlaceAll({Between(0, 10), Between(5, 15), Between(6, 16), Between(11, 12)});
  EXPECT_THAT(placed.tracks, ElementsAre(0, 1, 2, 0));
  EXPECT_THAT(placed.ended, ElementsAre(Pair(0, 10), Pair(0, 12), Pair(1, 15), Pair(2, 16)));
}

TEST(NestingTest, SpansWithoutLengthNest) {
  const Placed placed = PlaceAll({Between(0, 4), Between(4, 4), Between(4, 8), Between(8, 8)});
  EXPECT_THAT(placed.tracks, ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(placed.ended.size(), 4u);
}

TEST(FlowTest, ABatchHasOneNumberOnItsWholeWay) {
  Span span;
  EXPECT_EQ(FlowStepOf(span), FlowStep::kNone);
  span.batch = {0, 0};
  span.stage = StageId::kFetch;
  EXPECT_EQ(FlowStepOf(span), FlowStep::kBegin);
  span.stage = StageId::kStep;
  EXPECT_EQ(FlowStepOf(span), FlowStep::kEnd);
  span.stage = StageId::kDecode;
  EXPECT_EQ(FlowStepOf(span), FlowStep::kNone);
  EXPECT_NE(FlowId({0, 0}, -1), 0u);
  EXPECT_NE(FlowId({1, 0}, -1), FlowId({0, 1}, -1));
  EXPECT_NE(FlowId({1, 0}, 0), FlowId({1, 0}, 1)) << "batches of two ranks";
}

TEST(NamesTest, LeadBackToTheirValues) {
  for (std::uint8_t i = 1; i < wire::kStageCount; ++i) {
    EXPECT_EQ(StageNamed(StageName(static_cast<StageId>(i))), static_cast<StageId>(i));
  }
  EXPECT_EQ(EventNamed("batch_put"), EventType::kBatchPut);
  EXPECT_EQ(EventNamed("queue_depth"), EventType::kQueueDepth);
  EXPECT_EQ(StageNamed("unknown"), std::nullopt);
  EXPECT_EQ(EventNamed(""), std::nullopt);
}

TEST(CounterUnitTest, IsInTheName) {
  EXPECT_EQ(UnitOf("rss_bytes"), CounterUnit::kBytes);
  EXPECT_EQ(UnitOf("cpu_ns"), CounterUnit::kNanoseconds);
  EXPECT_EQ(UnitOf("threads"), CounterUnit::kCount);
}

}  // namespace
}  // namespace penstock::traces
