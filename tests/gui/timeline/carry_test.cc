// SPDX-License-Identifier: Apache-2.0
//
// The view stays at the same times when the recording grows.
#include "gui/model/timeline/carry.h"

#include <gtest/gtest.h>

#include "tests/gui/support.h"

namespace penstock::gui {
namespace {

using testing::TestSpan;
using traces::StageId;

std::vector<TestSpan> Steps(std::int64_t from, std::int64_t to) {
  std::vector<TestSpan> spans;
  for (std::int64_t at = from; at + 100 <= to; at += 100) spans.push_back({at, 60, StageId::kStep});
  return spans;
}

const Timeline& Old() {
  static const Timeline timeline = testing::TimelineOf({Steps(0, 10'000), Steps(0, 10'000)});
  return timeline;
}
const Timeline& GrownTrace() {
  static const Timeline timeline = testing::TimelineOf({Steps(0, 20'000), Steps(0, 20'000)});
  return timeline;
}

TEST(CarryTest, AViewOfEverythingStaysOne) {
  TimelineState state;
  state.view = TimeView(Old().length);
  const TimelineState carried = CarryOver(Old(), GrownTrace(), state, Following::kYes);
  EXPECT_LE(carried.view.range().from, 0);
  EXPECT_GE(carried.view.range().to, GrownTrace().length);
}

TEST(CarryTest, AViewOfTheEndFollowsItAtItsZoom) {
  TimelineState state;
  state.view = TimeView(Old().length);
  ShowEnd(state.view, 2000);
  const std::int64_t length = state.view.range().length();
  EXPECT_TRUE(ShowsEnd(state.view));
  const TimelineState carried = CarryOver(Old(), GrownTrace(), state, Following::kYes);
  EXPECT_TRUE(ShowsEnd(carried.view));
  EXPECT_NEAR(static_cast<double>(carried.view.range().length()), static_cast<double>(length), 2);
}

TEST(CarryTest, AViewOfTheMiddleStays) {
  TimelineState state;
  state.view = TimeView(Old().length);
  state.view.Show({3000, 4000});
  for (const Following following : {Following::kNo, Following::kYes}) {
    const TimelineState carried = CarryOver(Old(), GrownTrace(), state, following);
    EXPECT_EQ(carried.view.range(), state.view.range());
  }
}

TEST(CarryTest, WithoutFollowingAViewOfTheEndStaysToo) {
  TimelineState state;
  state.view = TimeView(Old().length);
  state.view.Show({8000, 9900});
  const TimelineState carried = CarryOver(Old(), GrownTrace(), state, Following::kNo);
  EXPECT_EQ(carried.view.range(), state.view.range());
}

TEST(CarryTest, TimesKeepTheirPlaceWhenSomethingEarlierComesToLight) {
  // A fetch is recorded only when it ends. This one began before all other spans.
  std::vector<TestSpan> with_parent = Steps(0, 10'000);
  with_parent.insert(with_parent.begin(), {-500, 8000, StageId::kFetch});
  const Timeline now = testing::TimelineOf({with_parent, Steps(0, 10'000)});
  ASSERT_EQ(now.begin, Old().begin - 500);
  TimelineState state;
  state.view = TimeView(Old().length);
  state.view.Show({3000, 4000});
  state.selection = TimeRange{3100, 3200};
  state.bookmarks[2] = TimeRange{1000, 2000};
  state.span = SpanRef{0, 0, 30};
  const TimelineState carried = CarryOver(Old(), now, state, Following::kYes);
  EXPECT_EQ(carried.view.range(), (TimeRange{3500, 4500}));
  EXPECT_EQ(carried.selection, (TimeRange{3600, 3700}));
  EXPECT_EQ(carried.bookmarks[2], (TimeRange{1500, 2500}));
  ASSERT_TRUE(carried.span.has_value());
  EXPECT_EQ(carried.span->level, 1u);  // below the parent now
  EXPECT_EQ(now.start(*carried.span), Old().start(*state.span) + 500);
}

TEST(CarryTest, NotesJumpsAndPinsMoveAlong) {
  std::vector<TestSpan> earlier = Steps(0, 10'000);
  earlier.insert(earlier.begin(), {-500, 8000, StageId::kFetch});
  Timeline now = testing::TimelineOf({earlier, Steps(0, 10'000)});
  std::swap(now.lanes[0], now.lanes[1]);
  std::swap(now.groups[0].lanes, now.groups[1].lanes);
  TimelineState state;
  state.view = TimeView(Old().length);
  state.notes.push_back({{100, 200}, "here"});
  state.back = {{300, 400}};
  state.ahead = {{500, 600}};
  state.pins = {{RowKind::kLevel, 100, 100}, {RowKind::kCounter, Pin::kWholeRun, 3}};
  const TimelineState carried = CarryOver(Old(), now, state, Following::kYes);
  EXPECT_EQ(carried.notes[0].range, (TimeRange{600, 700}));
  EXPECT_EQ(carried.back[0], (TimeRange{800, 900}));
  EXPECT_EQ(carried.ahead[0], (TimeRange{1000, 1100}));
  EXPECT_EQ(carried.pins, state.pins);
  const std::vector<Row> rows = LayOutRows(now, {}, carried);
  EXPECT_TRUE(rows.front().pinned);
  EXPECT_EQ(rows.front().lane, 1U);  // the lane of that thread has another index now
}

TEST(CarryTest, ASpanThatIsNotThereAnyMoreIsLetGo) {
  TimelineState state;
  state.view = TimeView(Old().length);
  state.span = SpanRef{0, 0, 99};
  const Timeline shorter = testing::TimelineOf({Steps(0, 1000), Steps(0, 1000)});
  EXPECT_FALSE(CarryOver(Old(), shorter, state, Following::kYes).span.has_value());
}

TEST(CarryTest, FoldedProcessesStayFolded) {
  TimelineState state;
  state.view = TimeView(Old().length);
  state.folded = {1, Row::kAllGroups};
  Timeline now = testing::TimelineOf({Steps(0, 900), Steps(0, 900), Steps(0, 900)});
  std::swap(now.groups[1], now.groups[2]);
  const TimelineState carried = CarryOver(Old(), now, state, Following::kYes);
  EXPECT_EQ(carried.folded, (std::set<std::uint32_t>{2, Row::kAllGroups}));
}

}  // namespace
}  // namespace penstock::gui
