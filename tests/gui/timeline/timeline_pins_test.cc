// SPDX-License-Identifier: Apache-2.0
//
// Pinned rows, notes, and the way back from jumps.
#include <gtest/gtest.h>

#include "gui/model/timeline/timeline_state.h"
#include "tests/gui/support.h"

namespace penstock::gui {
namespace {

using traces::StageId;

Timeline TwoWorkers() {
  return testing::TimelineOf({{{0, 100, StageId::kWait, 0}, {200, 50, StageId::kStep, 0}},
                              {{0, 90, StageId::kFetch, 0}, {10, 20, StageId::kDecode}},
                              {{0, 80, StageId::kFetch, 1}, {10, 60, StageId::kDecode}}});
}

TEST(PinsTest, APinnedLaneStandsAboveAndStaysInItsPlaceBelow) {
  const Timeline timeline = TwoWorkers();
  TimelineState state;
  const std::size_t all = LayOutRows(timeline, {}, state).size();
  state.TogglePin({RowKind::kLevel, 102, 102});
  const std::vector<Row> rows = LayOutRows(timeline, {}, state);
  ASSERT_EQ(rows.size(), all + 2);  // its two levels
  EXPECT_TRUE(rows[0].pinned && rows[1].pinned);
  EXPECT_FALSE(rows[2].pinned);
  EXPECT_EQ(rows[2].top, 0);
  EXPECT_EQ(timeline.groups[rows[0].group].worker_id, 1);
  EXPECT_GE(PinnedHeight(rows), rows[1].top + rows[1].height);
  state.TogglePin({RowKind::kLevel, 102, 102});
  EXPECT_EQ(LayOutRows(timeline, {}, state).size(), all);
  EXPECT_EQ(PinnedHeight(LayOutRows(timeline, {}, state)), 0);
}

TEST(PinsTest, WhatIsNotThereAnyMoreIsPassedOver) {
  const Timeline timeline = TwoWorkers();
  TimelineState state;
  state.TogglePin({RowKind::kLevel, 177, 177});
  state.TogglePin({RowKind::kCounter, Pin::kWholeRun, 3});
  EXPECT_EQ(PinnedHeight(LayOutRows(timeline, {}, state)), 0);
}

// A later analysis may have more or fewer counters, so a pinned counter may have another index.
TEST(PinsTest, ACounterIsFoundByWhatItCountsNotByItsPlace) {
  const Timeline timeline = TwoWorkers();
  const auto track = [](CounterKind kind, std::uint32_t process) {
    return CounterTrack{kind, process, {{0, 1}, {10, 2}}, 2};
  };
  constexpr std::uint32_t kAll = CounterTrack::kAll;
  const std::vector<CounterTrack> before{track(CounterKind::kCpu, kAll),
                                         track(CounterKind::kMemory, kAll)};
  TimelineState state;
  for (const Row& row : LayOutRows(timeline, before, state)) {
    if (row.kind == RowKind::kCounter && row.counter == 1) state.TogglePin(row.name);
  }
  const std::vector<CounterTrack> after{
      track(CounterKind::kReadyBatches, kAll), track(CounterKind::kCpu, kAll),
      track(CounterKind::kMemory, 1), track(CounterKind::kMemory, kAll)};
  const std::vector<Row> rows = LayOutRows(timeline, after, state);
  ASSERT_TRUE(rows.front().pinned);
  EXPECT_EQ(rows.front().counter, 3U);
  const std::vector<CounterTrack> none{track(CounterKind::kCpu, kAll)};
  EXPECT_FALSE(LayOutRows(timeline, none, state).front().pinned);
  EXPECT_TRUE(LayOutRows(timeline, before, state).front().pinned);
}

TEST(PinsTest, APinnedCounterOfTheRunBelongsToTheRunAndNotToTheFirstProcess) {
  const Timeline timeline = TwoWorkers();
  const std::vector<CounterTrack> counters{
      CounterTrack{CounterKind::kCpu, CounterTrack::kAll, {{0, 1}, {10, 2}}, 2}};
  const auto cpu = static_cast<std::uint32_t>(CounterKind::kCpu);
  TimelineState state;
  state.TogglePin({RowKind::kCounter, Pin::kWholeRun, cpu});
  const std::vector<Row> rows = LayOutRows(timeline, counters, state);
  ASSERT_TRUE(rows.front().pinned);
  EXPECT_EQ(rows.front().group, Row::kAllGroups);  // the group that the row's menu folds
}

TEST(RowMapTest, FindsTheRowOfALevelThePinnedOneFirstAndTheGroupWhereItIsFolded) {
  const Timeline timeline = TwoWorkers();
  TimelineState state;
  std::vector<Row> rows = LayOutRows(timeline, {}, state);
  const SpanRef decode{1, 1, 0};
  const Row* plain = RowMap(timeline, rows).Of(decode);
  ASSERT_NE(plain, nullptr);
  EXPECT_EQ(plain->lane, 1U);
  EXPECT_EQ(plain->level, 1U);
  state.TogglePin({RowKind::kLevel, 101, 101});
  rows = LayOutRows(timeline, {}, state);
  EXPECT_TRUE(RowMap(timeline, rows).Of(decode)->pinned);
  EXPECT_EQ(ScrollTo(rows, decode, 33, 10), 33);  // a pinned row is always in sight
  state.pins.clear();
  state.FoldAll(timeline, true);
  rows = LayOutRows(timeline, {}, state);
  EXPECT_EQ(RowMap(timeline, rows).Of(decode)->kind, RowKind::kGroup);
  EXPECT_EQ(RowMap(timeline, rows).Of({99, 0, 0}), nullptr);
}

TEST(HistoryTest, BackUndoesJumpsAndForwardRepeatsThem) {
  TimelineState state;
  state.view = TimeView(1'000'000);
  const TimeRange all = state.view.range();
  state.Jump({100, 5'000});
  state.Jump({700'000, 800'000});
  state.Jump({700'000, 800'000});  // no movement, no entry
  EXPECT_TRUE(state.Back());
  EXPECT_EQ(state.view.range(), (TimeRange{100, 5'000}));
  EXPECT_TRUE(state.Back());
  EXPECT_EQ(state.view.range(), all);
  EXPECT_FALSE(state.Back());
  EXPECT_TRUE(state.Forward());
  EXPECT_TRUE(state.Forward());
  EXPECT_EQ(state.view.range(), (TimeRange{700'000, 800'000}));
  EXPECT_FALSE(state.Forward());
  EXPECT_TRUE(state.Back());
  state.Jump({1'000, 2'000});
  EXPECT_FALSE(state.Forward());  // a new jump forgets the views ahead
}

TEST(NotesTest, ANoteIsOfTheSelectionElseTheSpanElseTheView) {
  const Timeline timeline = TwoWorkers();
  TimelineState state;
  state.view = TimeView(timeline.length);
  state.KeepNote(timeline);
  state.span = SpanRef{1, 1, 0};
  state.KeepNote(timeline);
  state.selection = TimeRange{5, 7};
  state.KeepNote(timeline);
  ASSERT_EQ(state.notes.size(), 3U);
  EXPECT_EQ(state.notes[0].range, state.view.range());
  EXPECT_EQ(state.notes[1].range, (TimeRange{10, 30}));
  EXPECT_EQ(state.notes[2].range, (TimeRange{5, 7}));
}

TEST(LongestHereTest, StaysWithTheStageAndInsideTheSelection) {
  const Timeline timeline = TwoWorkers();
  TimelineState state;
  state.view = TimeView(timeline.length);
  state.span = SpanRef{1, 1, 0};  // decode of 20 ns
  EXPECT_EQ(LongestHere(timeline, state), (SpanRef{2, 1, 0}));
  state.span.reset();
  state.selection = TimeRange{200, 250};  // only the step is there
  EXPECT_EQ(timeline.stage(*LongestHere(timeline, state)), StageId::kStep);
  state.Toggle(StageId::kStep);
  EXPECT_EQ(LongestHere(timeline, state), std::nullopt);
}

TEST(NeighbourTest, HiddenStagesArePassedOver) {
  const Timeline timeline = testing::TimelineOf({{{0, 10, StageId::kRead},
                                                  {20, 10, StageId::kDecode},
                                                  {40, 10, StageId::kRead},
                                                  {60, 10, StageId::kDecode}}});
  const std::uint32_t decode = 1u << static_cast<unsigned>(StageId::kDecode);
  EXPECT_EQ(Neighbour(timeline, {0, 0, 0}, 1, decode), (SpanRef{0, 0, 2}));
  EXPECT_EQ(Neighbour(timeline, {0, 0, 2}, 1, decode), std::nullopt);
  EXPECT_EQ(Neighbour(timeline, {0, 0, 2}, -1, decode), (SpanRef{0, 0, 0}));
}

}  // namespace
}  // namespace penstock::gui
