// SPDX-License-Identifier: Apache-2.0
//
// The menu of the timeline's right button, the panel below its rows, and its arrows.
#include <imgui_internal.h>

#include <string>
#include <vector>

#include "tests/analyzer/synthetic_ranks.h"
#include "tests/gui/walk/walk_menu.h"

namespace penstock::gui {
namespace {

using testing::WalkMenu;
using traces::StageId;

TEST_F(WalkMenu, ArrowsAreThoseOfTheChosenBatchAlone) {
  const SpanRef fetch = SpanOf(StageId::kFetch);
  const ImVec2 at = PlaceOf(fetch);
  EXPECT_EQ(ArrowCorners(), 0);
  MoveTo(at.x, at.y);  // a span under the pointer is not chosen
  EXPECT_EQ(ArrowCorners(), 0);
  Click(at.x, at.y);
  ASSERT_EQ(state().span, fetch);
  const int one = ArrowCorners();
  EXPECT_GT(one, 0);
  // With three times as many batches in the window, there are still the arrows of only one batch.
  const TimeRange near = visible();
  state().view.Show({near.from - near.length(), near.to + near.length()});
  MoveTo(-1000, -1000);
  EXPECT_LT(ArrowCorners(), 3 * one);
  Press(GLFW_KEY_ESCAPE);
  EXPECT_EQ(ArrowCorners(), 0);
}

TEST_F(WalkMenu, ARightClickOnASpanOpensItsMenuAndChangesNothing) {
  const SpanRef span = SpanOf(StageId::kFetch);
  const ImVec2 at = PlaceOf(span);
  const TimeRange before = visible();
  RightClick(at.x, at.y);
  EXPECT_TRUE(MenuIsOpen());
  EXPECT_EQ(workspace().menu.span, span);
  ASSERT_TRUE(workspace().menu.row.has_value());
  EXPECT_EQ(workspace().menu.row->lane, span.lane);
  EXPECT_FALSE(workspace().menu.selection);
  EXPECT_EQ(visible(), before);
  EXPECT_FALSE(state().span.has_value());
  // Keys go to the menu: Escape closes it and keeps the chosen span.
  state().span = span;
  Press(GLFW_KEY_ESCAPE);
  Frames(1);
  EXPECT_FALSE(MenuIsOpen());
  EXPECT_TRUE(state().span.has_value());
}

TEST_F(WalkMenu, ARightDragPansAndOpensNoMenu) {
  const ImVec2 at = PlaceOf(SpanOf(StageId::kFetch));
  const TimeRange before = visible();
  MoveTo(at.x, at.y);
  ImGui::GetIO().MouseDown[1] = true;
  Frames(1);
  MoveTo(at.x - 120, at.y);
  ImGui::GetIO().MouseDown[1] = false;
  Frames(2);
  EXPECT_GT(visible().from, before.from);
  EXPECT_FALSE(MenuIsOpen());
}

TEST_F(WalkMenu, AClickOnItsFirstLineZoomsToTheSpan) {
  const SpanRef span = SpanOf(StageId::kFetch);
  const ImVec2 at = PlaceOf(span);
  RightClick(at.x, at.y);
  const ImGuiWindow* popup = Popup();
  ASSERT_NE(popup, nullptr);
  // The heading comes first, in the small font.
  const float line = ImGui::GetTextLineHeightWithSpacing();
  Click(popup->Pos.x + 30, popup->Pos.y + 1.6F * line + popup->WindowPadding.y);
  Frames(1);
  EXPECT_FALSE(MenuIsOpen());
  EXPECT_EQ(state().span, span);
  EXPECT_LT(visible().length(), 2 * (timeline().end(span) - timeline().start(span)));
}

TEST_F(WalkMenu, TheLinesOfASpanSelectFindCopyAndHide) {
  const SpanRef span = SpanOf(StageId::kDecode);
  const ImVec2 at = PlaceOf(span);
  RightClick(at.x, at.y);
  ASSERT_EQ(workspace().menu.span, span);
  const SpanDetail& detail = timeline().detail(span);
  Run("Select its time");
  EXPECT_EQ(state().selection, (TimeRange{timeline().start(span), timeline().end(span)}));
  Run("Select the time of batch " + std::to_string(detail.batch));
  const auto stops = StopsOf(timeline(), detail.key());
  EXPECT_EQ(state().selection->from, timeline().start(stops.front()));
  EXPECT_GE(state().selection->to, timeline().end(stops.back()));
  Run("Find all spans of batch " + std::to_string(detail.batch));
  Frames(1);
  ASSERT_NE(workspace().search.found, nullptr);
  for (const SpanRef hit : workspace().search.found->hits()) {
    EXPECT_EQ(timeline().detail(hit).batch, detail.batch);
  }
  Run("Find spans of this name");
  Frames(1);
  EXPECT_FALSE(workspace().search.found->hits().empty());
  EXPECT_EQ(workspace().search.text, "\"jpeg\"");
  Run("Copy its name");
  EXPECT_EQ(workspace().copied, "jpeg");
  Run("Hide decode");
  EXPECT_FALSE(state().Shows(StageId::kDecode));
  Run("Show all stages");
  EXPECT_EQ(state().hidden_stages, 0U);
  Run("Show only decode");
  EXPECT_FALSE(state().Shows(StageId::kRead));
}

TEST_F(WalkMenu, ABatchOfOneRankIsFoundWithoutThoseOfTheOthers) {
  analyzer::testing::Ranked run;
  app_->Show(testing::DocumentOf(traces::MakeTrace(analyzer::testing::TraceOfAll(run))));
  Frames(3);
  workspace().view = ViewId::kTimeline;
  Frames(2);
  const SpanRef span = SpanOf(StageId::kStep);
  workspace().menu.span = span;
  Run("Find all spans of batch " +
      workspace().BatchNameOf(timeline().detail(span), Language::kEnglish));
  Frames(1);
  ASSERT_NE(workspace().search.found, nullptr);
  EXPECT_FALSE(workspace().search.found->hits().empty());
  for (const SpanRef hit : workspace().search.found->hits()) {
    EXPECT_EQ(timeline().lanes[hit.lane].consumer, timeline().lanes[span.lane].consumer);
  }
}

TEST_F(WalkMenu, TheLinesOfARowPinAndFold) {
  // The place of a row's name, where no span lies.
  const SpanRef span = SpanOf(StageId::kFetch);
  const float y = PlaceOf(span).y;
  RightClick(60, y);
  EXPECT_TRUE(MenuIsOpen());
  EXPECT_FALSE(workspace().menu.span.has_value());
  ASSERT_TRUE(workspace().menu.row.has_value());
  const std::uint32_t group = workspace().menu.row->group;
  Run("Pin this row at the top");
  EXPECT_EQ(state().pins.size(), 1U);
  Run("Unpin this row");
  EXPECT_TRUE(state().pins.empty());
  Run("Fold this process");
  EXPECT_TRUE(state().folded.contains(group));
  Run("Unfold this process");
  Run("Fold the other processes");
  EXPECT_FALSE(state().folded.contains(group));
  EXPECT_EQ(state().folded.size(), timeline().groups.size());  // with the counters of the run
  Run("Unfold all processes");
  EXPECT_TRUE(state().folded.empty());
}

TEST_F(WalkMenu, TheLinesOfASelectionZoomShowSumsAndCopyItsTimes) {
  const SpanRef span = SpanOf(StageId::kFetch);
  const ImVec2 at = PlaceOf(span);
  state().selection = TimeRange{250'000'000, 500'000'000};
  state().view.Show({200'000'000, 600'000'000});
  state().panel_hidden = true;
  Frames(1);
  RightClick(700, at.y);
  EXPECT_TRUE(workspace().menu.selection);
  Run("Show its sums");
  EXPECT_FALSE(state().panel_hidden);
  Run("Copy its times");
  EXPECT_EQ(workspace().copied, "--from 0.25s --to 0.5s");
  Run("Zoom to the selection");
  EXPECT_LT(visible().length(), 310'000'000);
  Run("Show its stages in detail");
  EXPECT_EQ(workspace().view, ViewId::kStages);
  Run("Clear the selection");
  EXPECT_FALSE(state().selection.has_value());
}

TEST_F(WalkMenu, TheTableOfTheWindowComesWhereAllRowsFitAndFollowsTheWindow) {
  state().table.reset();
  ImGui::GetIO().DisplaySize = {1280, 1600};
  Frames(2);
  EXPECT_TRUE(workspace().panel_shown);
  ASSERT_TRUE(Until([&] { return !workspace().own_times.busy() && !workspace().sums.busy(); }));
  const TimeRange all = workspace().sums.key().range;
  EXPECT_EQ(all, (TimeRange{0, timeline().length}));
  state().view.Show({1'000'000'000, 1'200'000'000});
  ASSERT_TRUE(
      Until([&] { return !workspace().sums.busy() && workspace().sums.key().range != all; }));
  EXPECT_EQ(workspace().sums.key().range, visible());
  // In a low window the rows need all the room.
  ImGui::GetIO().DisplaySize = {1280, 420};
  Frames(2);
  EXPECT_FALSE(workspace().panel_shown);
  Press(GLFW_KEY_Q);
  EXPECT_TRUE(workspace().panel_shown);
  Press(GLFW_KEY_Q);
  EXPECT_FALSE(workspace().panel_shown);
  // After the table was hidden, the panel of a span is still shown.
  state().span = SpanOf(StageId::kDecode);
  Frames(2);
  EXPECT_TRUE(workspace().panel_shown);
}

TEST_F(WalkMenu, ALinkInThePanelGoesToTheSpanAround) {
  const SpanRef decode = SpanOf(StageId::kDecode);
  state().span = decode;
  Frames(3);
  const ImGuiWindow* panel = nullptr;
  for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) {
    if (window->WasActive && std::string_view(window->Name).find("/span_") != std::string::npos) {
      panel = window;
    }
  }
  ASSERT_NE(panel, nullptr);
  // The first line of the right column: "inside", then the outermost span around.
  const float facts = std::min(panel->InnerRect.GetWidth() * 0.4F, 520.0F);
  Click(panel->Pos.x + facts + 16 + 90, panel->Pos.y + 9);
  ASSERT_TRUE(state().span.has_value());
  EXPECT_EQ(timeline().stage(*state().span), StageId::kFetch);
  EXPECT_LE(timeline().start(*state().span), timeline().start(decode));
  EXPECT_GE(timeline().end(*state().span), timeline().end(decode));
}

TEST_F(WalkMenu, HelpScrollsWhereItDoesNotFit) {
  for (int i = 0; i < 4; ++i) Press(GLFW_KEY_EQUAL, true);
  ASSERT_NEAR(app_->ui().scale, 1.5F, 0.01F);
  Press(GLFW_KEY_F1);
  Frames(2);
  const ImGuiWindow* help = ImGui::FindWindowByName("##help");
  ASSERT_NE(help, nullptr);
  EXPECT_GE(help->Pos.y, 0);
  EXPECT_LE(help->Pos.y + help->Size.y, 720);
  const ImGuiWindow* lines = nullptr;
  for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) {
    if (window->ParentWindow == help) lines = window;
  }
  ASSERT_NE(lines, nullptr);
  EXPECT_GT(lines->ScrollMax.y, 0);
  MoveTo(640, 360);
  ImGui::GetIO().MouseWheel = -3;
  Frames(1);
  ImGui::GetIO().MouseWheel = 0;
  Frames(1);
  const float wheeled = lines->Scroll.y;
  EXPECT_GT(wheeled, 0);
  for (int i = 0; i < 6; ++i) Press(GLFW_KEY_PAGE_DOWN);
  EXPECT_FLOAT_EQ(lines->Scroll.y, lines->ScrollMax.y);
  EXPECT_TRUE(workspace().help);
  // A click on a line does not close the help; a click beside the help closes it.
  Click(640, 360);
  EXPECT_TRUE(workspace().help);
  Click(5, 700);
  EXPECT_FALSE(workspace().help);
}

}  // namespace
}  // namespace penstock::gui
