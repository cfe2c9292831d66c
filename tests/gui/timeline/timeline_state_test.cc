// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/timeline_state.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/gui/support.h"

namespace penstock::gui {
namespace {

using traces::StageId;

TEST(TimeViewTest, ZoomKeepsTheTimeUnderThePointer) {
  TimeView view(1'000'000);
  view.Show({100'000, 500'000});
  view.Zoom(0.25, 0.5);
  const TimeRange range = view.range();
  EXPECT_NEAR(static_cast<double>(range.from) + 0.25 * static_cast<double>(range.length()), 200'000,
              2);
  EXPECT_NEAR(static_cast<double>(range.length()), 200'000, 2);
}

TEST(TimeViewTest, NeverLeavesTheTrace) {
  TimeView view(1'000'000);
  view.Show({400'000, 500'000});
  for (int i = 0; i < 100; ++i) view.Pan(1);
  EXPECT_LE(view.range().to, 1'010'000);
  for (int i = 0; i < 100; ++i) view.Pan(-1);
  EXPECT_GE(view.range().from, -10'000);
  for (int i = 0; i < 100; ++i) view.Zoom(0.5, 3);
  EXPECT_LE(view.range().length(), 1'030'000);
}

TEST(TimeViewTest, NeverGetsShorterThanWhatCanBeDrawn) {
  TimeView view(1'000'000);
  for (int i = 0; i < 200; ++i) view.Zoom(0.3, 0.5);
  EXPECT_GE(view.range().length(), 50);
  EXPECT_LE(view.range().length(), 53);
}

TEST(TimelineStateTest, FoldingLeavesTheHeadOfTheGroup) {
  const Timeline timeline = testing::TimelineOf(
      {{{0, 1, StageId::kWait, 0}}, {{0, 9, StageId::kFetch, 0}, {1, 2, StageId::kSample}}});
  TimelineState state;
  const std::size_t all = LayOutRows(timeline, {}, state).size();
  state.ToggleFold(1);
  const std::vector<Row> rows = LayOutRows(timeline, {}, state);
  EXPECT_EQ(all, 5U);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[2].kind, RowKind::kGroup);
  state.ToggleFold(1);
  EXPECT_EQ(LayOutRows(timeline, {}, state).size(), all);
}

TEST(TimelineStateTest, TheOthersAreFoldedAndNotTheGroupItself) {
  const Timeline timeline = testing::TimelineOf(
      {{{0, 1, StageId::kWait, 0}}, {{0, 9, StageId::kFetch, 0}}, {{0, 9, StageId::kFetch, 1}}});
  TimelineState state;
  state.folded.insert(1);
  state.FoldOthers(timeline, 1);
  EXPECT_EQ(state.folded, (std::set<std::uint32_t>{0, 2, Row::kAllGroups}));
}

TEST(TimelineStateTest, HidingTheTableOfTheWindowLeavesThePanelOfASpan) {
  TimelineState state;
  state.TogglePanel(true);
  EXPECT_EQ(state.table, false);
  EXPECT_FALSE(state.panel_hidden);
  state.TogglePanel(false);
  EXPECT_EQ(state.table, true);
  state.span = SpanRef{};
  state.TogglePanel(true);
  EXPECT_TRUE(state.panel_hidden);
  EXPECT_EQ(state.table, true);
}

TEST(TimelineStateTest, RowsDoNotOverlap) {
  const Timeline timeline = testing::TimelineOf(
      {{{0, 1, StageId::kWait, 0}}, {{0, 9, StageId::kFetch, 0}, {1, 2, StageId::kSample}}});
  const std::vector<Row> rows = LayOutRows(timeline, {}, TimelineState());
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_GE(rows[i].top, rows[i - 1].top + rows[i - 1].height);
  }
}

TEST(TimelineStateTest, GoMakesATinySpanVisible) {
  const Timeline timeline =
      testing::TimelineOf({{{0, 900'000, StageId::kWait, 0}, {950'000, 10, StageId::kGet, 0}}});
  TimelineState state;
  state.view = TimeView(timeline.length);
  const SpanRef span = *Longest(timeline, StageId::kGet, {0, timeline.length + 1});
  state.Go(timeline, span);
  const TimeRange range = state.view.range();
  EXPECT_LE(range.from, 950'000);
  EXPECT_GE(range.to, 950'010);
  EXPECT_LE(range.length(), 4'000);
  EXPECT_EQ(state.span, span);
}

TEST(TimelineStateTest, HiddenStagesComeBack) {
  TimelineState state;
  state.Toggle(StageId::kRead);
  EXPECT_FALSE(state.Shows(StageId::kRead));
  EXPECT_TRUE(state.Shows(StageId::kDecode));
  state.Toggle(StageId::kRead);
  EXPECT_TRUE(state.Shows(StageId::kRead));
}

TEST(SpanAtTest, TakesTheNearestWithinReach) {
  const Timeline timeline =
      testing::TimelineOf({{{0, 100, StageId::kFetch}, {200, 100, StageId::kFetch}}});
  const Row row{.kind = RowKind::kLevel};
  EXPECT_EQ(SpanAt(timeline, row, 50, 0)->index, 0U);
  EXPECT_EQ(SpanAt(timeline, row, 190, 20)->index, 1U);
  EXPECT_EQ(SpanAt(timeline, row, 150, 20), std::nullopt);
}

TEST(SpanAtTest, TakesTheSpanUnderThePointerHoweverManyAreWithinReach) {
  std::vector<testing::TestSpan> spans;
  for (int i = 0; i < 1000; ++i) spans.push_back({10 * i, 5, StageId::kFetch});
  const Timeline timeline = testing::TimelineOf({spans});
  EXPECT_EQ(SpanAt(timeline, Row{.kind = RowKind::kLevel}, 5'002, 4'000)->index, 500U);
}

TEST(SpanAtTest, TakesTheLaterOfTwoSpansWhereOneEndsAndTheOtherBegins) {
  const Timeline timeline =
      testing::TimelineOf({{{0, 100, StageId::kFetch}, {100, 100, StageId::kFetch}}});
  EXPECT_EQ(SpanAt(timeline, Row{.kind = RowKind::kLevel}, 100, 10)->index, 1U);
}

// Nothing had said that four of six workers lay below the window.
TEST(TimelineStateTest, AScrollBarShowsWhichRowsAreInSight) {
  EXPECT_FALSE(ThumbOf(300, 300, 0).has_value());
  EXPECT_FALSE(ThumbOf(200, 300, 0).has_value());
  const auto first = ThumbOf(600, 300, 0);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->from, 0);
  EXPECT_EQ(first->to, 0.5F);
  EXPECT_EQ(ThumbOf(600, 300, 300)->to, 1);
  EXPECT_NEAR(ThumbOf(1e6F, 300, 0)->to, 0.06, 1e-6);
}

}  // namespace
}  // namespace penstock::gui
