// SPDX-License-Identifier: Apache-2.0
//
// Edge cases of the timeline's menu and panels: times beyond the trace, names that are names of
// stages, tables that are hidden while they are made, a trace that grows.
#include <string>

#include "tests/gui/walk/walk_menu.h"

namespace penstock::gui {
namespace {

using testing::DocumentOf;
using testing::WalkMenu;
using traces::StageId;

TEST_F(WalkMenu, KeysAreShownOnlyWhereTheyDoTheSame) {
  const SpanRef decode = SpanOf(StageId::kDecode);
  const ImVec2 at = PlaceOf(decode);
  state().span = SpanOf(StageId::kStep);
  RightClick(at.x, at.y);
  ASSERT_EQ(workspace().menu.span, decode);
  for (const char* label : {"Zoom to it", "Select its time", "Go to the longest decode"}) {
    EXPECT_EQ(KeysOf(label), "") << label << ": the key is about the chosen span";
  }
  state().span = decode;
  EXPECT_EQ(KeysOf("Zoom to it"), "F");
  EXPECT_EQ(KeysOf("Select its time"), "M");
  EXPECT_EQ(KeysOf("Go to the longest decode"), "L");
  state().selection = TimeRange{0, 100};
  EXPECT_EQ(KeysOf("Zoom to it"), "") << "F zooms to the selection";
}

TEST_F(WalkMenu, ANameThatSaysAStageFindsTheSpansOfThatName) {
  traces::TraceData data = analyzer::testing::MakeSynthetic({.batches = 20});
  const StringId name = data.Intern("train step of batch 3");
  std::int64_t marks = 0;
  for (auto& spans : data.spans) {
    for (auto& span : spans) {
      if (span.stage != StageId::kAugment) continue;
      span.name = name;
      ++marks;
    }
  }
  ASSERT_GT(marks, 0);
  app_->Show(DocumentOf(traces::MakeTrace(std::move(data))));
  Frames(3);
  const SpanRef span = SpanOf(StageId::kAugment);
  const ImVec2 at = PlaceOf(span);
  RightClick(at.x, at.y);
  ASSERT_EQ(workspace().menu.span, span);
  Run("Find spans of this name");
  Frames(1);
  ASSERT_NE(workspace().search.found, nullptr);
  EXPECT_EQ(workspace().search.found->hits().size(), static_cast<std::size_t>(marks));
  // For a span without a name, the search is for its stage.
  workspace().menu.span = SpanOf(StageId::kFetch);
  Run("Find spans of this name");
  Frames(1);
  ASSERT_FALSE(workspace().search.found->hits().empty());
  EXPECT_EQ(timeline().stage(workspace().search.found->hits().front()), StageId::kFetch);
}

TEST_F(WalkMenu, ADragFromBeforeTheTraceSelectsFromItsBegin) {
  state().view.Fit();
  Frames(1);
  ASSERT_LT(visible().from, 0);
  Drag(206, 400, 700, 400);
  ASSERT_TRUE(state().selection.has_value());
  EXPECT_EQ(state().selection->from, 0);
  state().selection.reset();
  Drag(1264, 400, 700, 400);
  ASSERT_TRUE(state().selection.has_value());
  EXPECT_EQ(state().selection->to, timeline().length);
  // A selection that begins before the trace, as one from a note may, is copied only inside the
  // trace.
  state().selection = TimeRange{-12'000'000, 250'000'000};
  workspace().menu.selection = true;
  Run("Copy its times");
  EXPECT_EQ(workspace().copied, "--from 0s --to 0.25s");
}

TEST_F(WalkMenu, TheMachineIsNoProcessThatFolds) {
  Row row;
  row.kind = RowKind::kGroup;
  row.group = Row::kAllGroups;
  workspace().menu.row = row;
  Run("Fold the counters of the machine");
  EXPECT_TRUE(state().folded.contains(Row::kAllGroups));
  Run("Unfold the counters of the machine");
  EXPECT_TRUE(state().folded.empty());
  Run("Fold the processes");
  EXPECT_EQ(state().folded.size(), timeline().groups.size());
}

TEST_F(WalkMenu, ATableThatIsHiddenWhileItIsMadeLeavesTheWindowAtRest) {
  const auto rests = [this] { return Until([this] { return !workspace().animating(); }); };
  const auto making = [this] { return workspace().own_times.busy() || workspace().sums.busy(); };
  state().table = true;
  state().view.Show({500'000, 400'000'000});
  ASSERT_TRUE(Until(making));
  Press(GLFW_KEY_Q);  // nothing shows the table any more
  EXPECT_FALSE(workspace().panel_shown);
  EXPECT_TRUE(rests());
  // The panels of a selection, and of a span without parts, replace the table.
  for (const bool selects : {true, false}) {
    state().table = true;
    state().selection.reset();
    state().span.reset();
    state().view.Show({selects ? 1'000'000 : 2'000'000, 400'000'000});
    ASSERT_TRUE(Until(making));
    if (selects) {
      state().selection = TimeRange{0, 300'000'000};
    } else {
      state().span = SpanOf(StageId::kWait);
    }
    EXPECT_TRUE(rests());
  }
}

TEST_F(WalkMenu, WhatTheTimelineMadeIsForgottenWhileAnotherViewIsShown) {
  state().table = true;
  ASSERT_TRUE(Until([this] { return workspace().sums.key().times != nullptr; }));
  state().span = SpanOf(StageId::kSample);
  Frames(1);
  ASSERT_NE(workspace().samples[0].timeline, nullptr);
  workspace().view = ViewId::kIo;
  workspace().ForgetUnseen();
  EXPECT_EQ(workspace().own_times.key().timeline, nullptr);
  EXPECT_EQ(workspace().sums.key().times, nullptr);
  EXPECT_EQ(workspace().parts.times, nullptr);
  EXPECT_EQ(workspace().samples[0].timeline, nullptr);
}

TEST_F(WalkMenu, AGrowingTraceIsIndexedOnlyForATableThatIsAskedFor) {
  workspace().own_times = {};
  workspace().document.live = Live::kWriting;
  state().span = SpanOf(StageId::kSample);
  Frames(3);
  EXPECT_FALSE(workspace().own_times.busy());
  EXPECT_EQ(workspace().own_times.key().timeline, nullptr);
  state().table = true;
  EXPECT_TRUE(Until([this] { return workspace().parts.times != nullptr; }));
}

TEST_F(WalkMenu, ASampleIsGatheredOnceForManyFrames) {
  const SpanRef decode = SpanOf(StageId::kDecode);
  const SpanRef fetch = SpanOf(StageId::kFetch);
  const SampleData* first = &workspace().SampleOf(decode);
  const std::size_t files = first->files.size();
  workspace().samples[0].data.files.push_back({});  // marks the kept data
  (void)workspace().SampleOf(fetch);
  EXPECT_EQ(workspace().SampleOf(decode).files.size(), files + 1);
  workspace().Reset();
  EXPECT_EQ(workspace().samples[0].timeline, nullptr);
}

}  // namespace
}  // namespace penstock::gui
