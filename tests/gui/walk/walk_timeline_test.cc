// SPDX-License-Identifier: Apache-2.0
//
// The keys and the mouse of the timeline.
#include <string>
#include <string_view>

#include "gui/main/view_command.h"
#include "tests/gui/walk/walk_menu.h"

namespace penstock::gui {
namespace {

using traces::StageId;

// Rows begin below the bar, the toolbar, the map and the axis.
constexpr float kRowsTop = 148;

class WalkTimeline : public testing::WalkMenu {
 protected:
  const std::vector<CounterTrack>& counters() { return workspace().document.analysis->counters; }
};

TEST_F(WalkTimeline, ARangeFiltersTheViewsThatObeyItAndTheChipClearsIt) {
  const std::uint64_t whole = workspace().document.analysis->report.stages.front().count;
  state().selection = TimeRange{timeline().length / 4, timeline().length / 2};
  for (const ViewInfo& view : kViews) {
    workspace().view = view.id;
    ASSERT_TRUE(Until([&] { return !workspace().ranges->busy(); }));
    Frames(1);
    if (!ObeysRange(view.id)) {
      EXPECT_EQ(&workspace().Shown(), &workspace().document) << view.name;
      continue;
    }
    ASSERT_NE(workspace().part, nullptr) << view.name;
    EXPECT_LT(workspace().Shown().analysis->report.stages.front().count, whole / 2) << view.name;
    EXPECT_NEAR(workspace().Shown().analysis->report.duration,
                static_cast<double>(state().selection->length()) * 1e-9, 1e-9);
  }
  workspace().view = ViewId::kStages;
  Frames(2);
  auto& slowest = workspace().stages.tail;
  ASSERT_TRUE(Until([&] { return slowest.key().of.range && !slowest.busy(); }));
  const auto none = [](const std::stop_token&) { return Tail{}; };
  const Tail* tail = slowest.Get(slowest.key(), true, none);
  EXPECT_FALSE(tail->calls.empty());
  for (const Call& call : tail->calls) {
    EXPECT_LT(call.start, timeline().length / 2);
    EXPECT_GE(call.start, timeline().length / 4);
  }
  Click(60, 70);  // the chip
  EXPECT_FALSE(workspace().Range().has_value());
  EXPECT_EQ(workspace().Shown().analysis->report.stages.front().count, whole);
}

TEST_F(WalkTimeline, EscapeInAnotherViewGoesBackToTheWholeTrace) {
  state().selection = TimeRange{0, timeline().length / 2};
  workspace().view = ViewId::kWorkers;
  ASSERT_TRUE(Until([&] { return workspace().part != nullptr; }));
  Press(GLFW_KEY_ESCAPE);
  EXPECT_FALSE(state().selection.has_value());
  EXPECT_EQ(&workspace().Shown(), &workspace().document);
}

TEST_F(WalkTimeline, MSelectsTheTimeOfTheSpanAndShiftMKeepsItAsANote) {
  const SpanRef span = SpanOf(StageId::kDecode);
  state().Go(timeline(), span);
  Frames(1);
  Press(GLFW_KEY_M);
  EXPECT_EQ(state().selection, (TimeRange{timeline().start(span), timeline().end(span)}));
  Press(GLFW_KEY_M, false, false, true);
  ASSERT_EQ(state().notes.size(), 1U);
  EXPECT_EQ(state().notes[0].range, *state().selection);
  Press(GLFW_KEY_ESCAPE);
  EXPECT_EQ(state().notes.size(), 1U);
}

TEST_F(WalkTimeline, BListsTheBookmarksAndAClickGoesThere) {
  for (int i = 0; i < 8; ++i) Press(GLFW_KEY_W);
  Press(GLFW_KEY_3, true);
  const TimeRange kept = visible();
  Press(GLFW_KEY_0);
  EXPECT_NE(visible(), kept);
  Press(GLFW_KEY_B);
  EXPECT_TRUE(state().marks_open);
  Frames(2);
  // The first line of the list, which lies at the upper right of the rows.
  Click(1280 - 14 - 8 - 200, 201);
  EXPECT_NEAR(static_cast<double>(visible().from), static_cast<double>(kept.from), 2);
  Press(GLFW_KEY_B);
  EXPECT_FALSE(state().marks_open);
}

TEST_F(WalkTimeline, QHidesThePanelBelow) {
  state().span = SpanOf(StageId::kDecode);
  Frames(2);
  const int with = ImGui::GetDrawData()->TotalVtxCount;
  Press(GLFW_KEY_Q);
  EXPECT_TRUE(state().panel_hidden);
  EXPECT_NE(ImGui::GetDrawData()->TotalVtxCount, with);
  Press(GLFW_KEY_Q);
  EXPECT_FALSE(state().panel_hidden);
}

TEST_F(WalkTimeline, LGoesToTheLongestSpanOfTheStage) {
  state().span = SpanRef{SpanOf(StageId::kRead).lane, SpanOf(StageId::kRead).level, 0};
  const StageId stage = timeline().stage(*state().span);
  Press(GLFW_KEY_L);
  const SpanRef longest = SpanOf(stage);
  ASSERT_TRUE(state().span.has_value());
  EXPECT_EQ(timeline().end(*state().span) - timeline().start(*state().span),
            timeline().end(longest) - timeline().start(longest));
}

TEST_F(WalkTimeline, AltArrowsGoBackAndForthBetweenJumps) {
  const TimeRange all = visible();
  state().Go(timeline(), SpanOf(StageId::kRead));
  const TimeRange near = visible();
  ASSERT_NE(all, near);
  Press(GLFW_KEY_LEFT, false, true);
  EXPECT_EQ(visible(), all);
  Press(GLFW_KEY_RIGHT, false, true);
  EXPECT_EQ(visible(), near);
}

TEST_F(WalkTimeline, PPinsTheRowOfTheSpanAndTheRowStaysWhenOthersScroll) {
  state().span = SpanOf(StageId::kDecode);
  Press(GLFW_KEY_P);
  ASSERT_EQ(state().pins.size(), 1U);
  const auto rows = LayOutRows(timeline(), counters(), state());
  EXPECT_TRUE(rows.front().pinned);
  EXPECT_EQ(rows.front().lane, state().span->lane);
  const RowMap map(timeline(), rows);
  ASSERT_NE(map.Of(*state().span), nullptr);
  EXPECT_TRUE(map.Of(*state().span)->pinned);
  EXPECT_EQ(map.Of(*state().span)->level, state().span->level);
  state().scroll = 500;
  Frames(1);
  // The pointer is now at the top, over the pinned row. P unpins that row.
  MoveTo(600, 160);
  Press(GLFW_KEY_P);
  EXPECT_TRUE(state().pins.empty());
}

TEST_F(WalkTimeline, PTwiceAtOnePlacePinsAndUnpins) {
  const auto rows = LayOutRows(timeline(), counters(), state());
  const auto row = std::find_if(rows.begin(), rows.end(), [](const Row& one) {
    return one.kind == RowKind::kLevel && one.first_of_lane;
  });
  ASSERT_NE(row, rows.end());
  MoveTo(600, kRowsTop + row->top + row->height / 2);
  Press(GLFW_KEY_P);
  EXPECT_EQ(state().pins.size(), 1U);
  Press(GLFW_KEY_P);
  EXPECT_TRUE(state().pins.empty());
}

TEST_F(WalkTimeline, SoloShowsOneStageAndCommaSkipsSpansOfTheOthers) {
  state().Solo(StageId::kDecode);
  EXPECT_TRUE(state().Shows(StageId::kDecode));
  EXPECT_FALSE(state().Shows(StageId::kRead));
  state().span = SpanOf(StageId::kDecode);
  Frames(1);
  Press(GLFW_KEY_COMMA);
  EXPECT_EQ(timeline().stage(*state().span), StageId::kDecode);
  state().Solo(StageId::kDecode);
  EXPECT_EQ(state().hidden_stages, 0U);
}

TEST_F(WalkTimeline, ADragSnapsToTheEdgeOfASpanUnlessAltIsHeld) {
  const SpanRef span = SpanOf(StageId::kFetch);
  state().view.Show({timeline().start(span) - 2'000'000, timeline().end(span) + 2'000'000});
  state().span.reset();
  Frames(2);
  // The left edge of the span on the screen, and the middle of its row.
  const Window window{visible().from, visible().to, 1280 - 28 - 190, 1};
  const float x = 14 + 190 + static_cast<float>(window.X(timeline().start(span)));
  const auto rows = LayOutRows(timeline(), counters(), state());
  float y = 0;
  for (const Row& row : rows) {
    if (row.kind == RowKind::kLevel && row.lane == span.lane && row.level == span.level) {
      y = row.top + row.height / 2;
    }
  }
  Drag(x + 4, kRowsTop + y, x + 300, kRowsTop + y);
  ASSERT_TRUE(state().selection.has_value());
  EXPECT_EQ(state().selection->from, timeline().start(span));
  Press(GLFW_KEY_ESCAPE);
  Hold(false, true, false);
  Drag(x + 4, kRowsTop + y, x + 300, kRowsTop + y);
  Hold(false, false, false);
  ASSERT_TRUE(state().selection.has_value());
  EXPECT_NE(state().selection->from, timeline().start(span));
}

TEST_F(WalkTimeline, ADragMovesAnEdgeOfTheSelection) {
  Drag(500, 300, 800, 300);
  ASSERT_TRUE(state().selection.has_value());
  const TimeRange before = *state().selection;
  const Window window{visible().from, visible().to, 1280 - 28 - 190, 1};
  const float x = 14 + 190 + static_cast<float>(window.X(before.to));
  Hold(false, true, false);
  Drag(x, 300, x + 120, 300);
  Hold(false, false, false);
  ASSERT_TRUE(state().selection.has_value());
  EXPECT_EQ(state().selection->from, before.from);
  EXPECT_GT(state().selection->to, before.to);
}

TEST_F(WalkTimeline, CommandsAreFoundByTypingAndRunByEnter) {
  Press(GLFW_KEY_P, true);
  Frames(2);
  ASSERT_TRUE(app_->commands_open());
  ASSERT_TRUE(ImGui::GetIO().WantTextInput);
  ImGui::GetIO().AddInputCharactersUTF8("longest decode");
  Frames(2);
  const TimeRange before = visible();
  Press(GLFW_KEY_W);  // goes into the text, so it does not zoom
  EXPECT_EQ(visible(), before);
  Press(GLFW_KEY_ENTER);
  EXPECT_FALSE(app_->commands_open());
  ASSERT_TRUE(state().span.has_value());
  EXPECT_EQ(timeline().stage(*state().span), StageId::kDecode);
}

TEST_F(WalkTimeline, EscapeClosesTheCommandsAndKeepsTheSpan) {
  state().span = SpanOf(StageId::kDecode);
  Press(GLFW_KEY_P, true);
  Frames(2);
  Press(GLFW_KEY_ESCAPE);
  EXPECT_FALSE(app_->commands_open());
  EXPECT_TRUE(state().span.has_value());
}

TEST_F(WalkTimeline, AClickOnTheMapMovesTheViewAndTheWheelZooms) {
  for (int i = 0; i < 20; ++i) Press(GLFW_KEY_W);
  Click(300, 105);  // on the map
  const TimeRange early = visible();
  Click(1100, 105);
  EXPECT_GT(visible().from, early.to);
  const TimeRange before = visible();
  ImGui::GetIO().MouseWheel = 2;
  Frames(1);
  ImGui::GetIO().MouseWheel = 0;
  EXPECT_LT(visible().length(), before.length());
}

TEST_F(WalkTimeline, WheelScrollsShiftWheelPansAndRightDragMoves) {
  for (int i = 0; i < 20; ++i) Press(GLFW_KEY_W);
  ImGui::GetIO().DisplaySize = {1280, 500};
  Frames(2);
  MoveTo(700, 300);
  ImGui::GetIO().MouseWheel = -1;
  Frames(1);
  ImGui::GetIO().MouseWheel = 0;
  EXPECT_GT(state().scroll, 0);
  const TimeRange before = visible();
  Hold(false, false, true);
  ImGui::GetIO().MouseWheel = -1;
  Frames(1);
  Hold(false, false, false);
  ImGui::GetIO().MouseWheel = 0;
  EXPECT_GT(visible().from, before.from);
  const TimeRange panned = visible();
  ImGui::GetIO().MouseDown[1] = true;
  Frames(1);
  MoveTo(800, 300);
  ImGui::GetIO().MouseDown[1] = false;
  Frames(1);
  EXPECT_LT(visible().from, panned.from);
}

TEST_F(WalkTimeline, TicksOfHitsChangeWithTheSearchAndTheWidth) {
  SearchState& search = workspace().search;
  search.text = "decode";
  Frames(2);
  const std::vector<float> ticks = search.ticks;
  ASSERT_FALSE(ticks.empty());
  ImGui::GetIO().DisplaySize.x = 1920;
  Frames(2);
  EXPECT_GT(search.ticks.back(), ticks.back() + 300);
  ImGui::GetIO().DisplaySize.x = 1280;
  Frames(2);
  EXPECT_EQ(search.ticks, ticks);
  // The hits are forgotten when the trace has grown.
  search.Forget();
  EXPECT_TRUE(search.ticks.empty());
  Frames(2);
  EXPECT_EQ(search.ticks, ticks);
  search.text = "wait";
  Frames(2);
  EXPECT_NE(search.ticks, ticks);
}

TEST_F(WalkTimeline, FZoomsToTheSpan) {
  const SpanRef span = SpanOf(StageId::kFetch);
  state().view.Show({timeline().start(span) - 50'000'000, timeline().end(span) + 50'000'000});
  state().span = span;
  Press(GLFW_KEY_F);
  EXPECT_LT(visible().length(), 2 * (timeline().end(span) - timeline().start(span)));
  EXPECT_LE(visible().from, timeline().start(span));
  EXPECT_GE(visible().to, timeline().end(span));
}

TEST_F(WalkTimeline, RowsOfAGroupedSearchLeadToTheirSpans) {
  Press(GLFW_KEY_SLASH);
  Frames(2);
  ImGui::GetIO().AddInputCharactersUTF8("decode group:worker");
  Frames(2);
  EXPECT_EQ(workspace().search.text, "decode group:worker");
  auto& table = workspace().groups.table;
  ASSERT_TRUE(Until([&] { return !table.busy(); }));
  const auto none = [](const std::stop_token&) { return GroupTable{}; };
  const GroupTable groups = *table.Get(table.key(), true, none);
  ASSERT_EQ(groups.rows.size(), 2U);
  ASSERT_TRUE(workspace().search.found);
  const std::size_t all = workspace().search.found->hits().size();
  EXPECT_EQ(all, groups.count);
  EXPECT_TRUE(workspace().panel_shown);
  // Rows lie below the heading of the table, in the lower part of the window.
  for (float y = 470; y < 700 && !workspace().groups.chosen; y += 8) Click(100, y);
  ASSERT_TRUE(workspace().groups.chosen.has_value());
  ASSERT_TRUE(state().span.has_value());
  EXPECT_EQ(timeline().stage(*state().span), StageId::kDecode);
  EXPECT_EQ(timeline().GroupOf(state().span->lane)->process.value, *workspace().groups.chosen);
  EXPECT_LT(workspace().search.found->hits().size(), all) << "only the hits of the row";
  EXPECT_EQ(workspace().search.text, "decode group:worker") << "the table stays";
  const std::string command = ViewCommand(workspace());
  EXPECT_NE(command.find("--search 'decode group:worker'"), std::string::npos) << command;
  Place place;
  place.search = "decode group:worker";
  app_->WantPlace(place);
  app_->Show(workspace().document);
  EXPECT_EQ(workspace().search.text, place.search);
}

TEST_F(WalkTimeline, KeysOpenTheMenuAndSelectTheVisibleTime) {
  Press(GLFW_KEY_MENU);
  EXPECT_FALSE(ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId)) << "nothing is chosen";
  state().view.Show({timeline().length / 4, timeline().length / 2});
  Press(GLFW_KEY_V);
  EXPECT_EQ(workspace().Range(), (TimeRange{timeline().length / 4, timeline().length / 2}));
  Press(GLFW_KEY_ESCAPE);
  Press(GLFW_KEY_L);
  ASSERT_TRUE(state().span.has_value());
  Press(GLFW_KEY_F10, false, false, true);
  ASSERT_TRUE(ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId));
  EXPECT_EQ(workspace().menu.span, state().span);
  EXPECT_TRUE(workspace().menu.row.has_value());
  // The first two lines of the menu zoom to the span and select its time.
  for (int i = 0; i < 12 && !state().selection; ++i) {
    Press(GLFW_KEY_DOWN);
    if (i % 2 == 1) Press(GLFW_KEY_SPACE);
    if (!ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId)) Press(GLFW_KEY_MENU);
  }
  EXPECT_TRUE(state().selection.has_value()) << "arrows and Space choose a line of the menu";
}

TEST_F(WalkTimeline, ArrowsReachTheItemsOfAView) {
  workspace().view = ViewId::kWorkers;
  Frames(1);
  ASSERT_TRUE(Until([this] { return !workspace().animating(); }));
  Press(GLFW_KEY_DOWN);
  EXPECT_FALSE(workspace().workers.chosen.has_value()) << "arrows belong to the view at first";
  Press(GLFW_KEY_F6);
  ASSERT_TRUE(workspace().walking);
  for (int i = 0; i < 40 && !workspace().workers.chosen; ++i) {
    Press(GLFW_KEY_DOWN);
    Press(GLFW_KEY_SPACE);
    if (workspace().view != ViewId::kWorkers) workspace().view = ViewId::kWorkers;
  }
  EXPECT_TRUE(workspace().workers.chosen.has_value());
  Press(GLFW_KEY_F6);
  EXPECT_FALSE(workspace().walking);
  Frames(2);
  EXPECT_EQ(ImGui::GetIO().ConfigFlags & ImGuiConfigFlags_NavEnableKeyboard, 0);
}

// The last row of the table was cut through the middle, with 200 px free above.
TEST_F(WalkTimeline, TheTableOfTheViewTakesTheHeightThatRowsLeaveFree) {
  state().FoldAll(timeline(), true);
  ASSERT_TRUE(Until([this] { return workspace().Times() != nullptr; }));
  Frames(2);
  ASSERT_TRUE(Until([this] { return workspace().panel_shown && !workspace().sums.busy(); }));
  Frames(2);
  int tables = 0;
  for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) {
    if (!window->WasActive || std::string_view(window->Name).find("sums") == std::string::npos) {
      continue;
    }
    ++tables;
    EXPECT_EQ(window->ScrollMax.y, 0) << window->Name;
  }
  EXPECT_GE(tables, 1);
}

}  // namespace
}  // namespace penstock::gui
