// SPDX-License-Identifier: Apache-2.0
//
// Plays a person's keys and mouse, frame by frame, without a window, in every view. The effect of
// the input is read from the workspace.
#include "tests/gui/walk/walk.h"
#include "tests/traces/support.h"

namespace penstock::gui {
namespace {

using analyzer::testing::Synthetic;
using analyzer::testing::SyntheticTrace;
using testing::DocumentOf;
using testing::Walk;

TEST_F(Walk, EveryViewDrawsEveryTrace) {
  const auto visit = [this](Document document) {
    app_->Show(std::move(document));
    for (int digit = 1; digit <= static_cast<int>(kViews.size()); ++digit) {
      Press(GLFW_KEY_0 + digit % 10, false, true);
      EXPECT_EQ(workspace().view, kViews[static_cast<std::size_t>(digit) - 1].id);
      Frames(2);
    }
  };
  visit(DocumentOf(SyntheticTrace({})));
  visit(DocumentOf(traces::MakeTrace({})));
  visit(DocumentOf(testing::MakeThreads({{{0, 10, traces::StageId::kDecode}}})));
  Synthetic alone;
  alone.workers = 0;
  visit(DocumentOf(SyntheticTrace(alone)));
  visit(DocumentOf(traces::MakeTrace(testing::MakeGpuRun({}))));
}

TEST_F(Walk, ViewsOfDataFollowTheSelectionAndLeadToTheTimeline) {
  app_->Show(DocumentOf(traces::MakeTrace(testing::MakeGpuRun({}))));
  workspace().at_once = true;
  const auto look = [this](ViewId view) {
    workspace().view = view;
    Frames(3);
    EXPECT_TRUE(Until([this] { return !workspace().ranges->busy(); }));
    Frames(2);
  };
  workspace().timeline.selection = TimeRange{200'000'000, 600'000'000};
  for (const ViewId view : {ViewId::kStages, ViewId::kIo, ViewId::kGpu, ViewId::kWorkers}) {
    look(view);
  }
  const auto none = [](const std::stop_token&) -> IoModel { return {}; };
  const IoModel* part = workspace().reading.model.Get(workspace().question(), true, none);
  const std::uint64_t in_part = part->reads;
  EXPECT_GT(in_part, 0U);
  workspace().timeline.selection.reset();
  look(ViewId::kIo);
  const IoModel* whole = workspace().reading.model.Get(workspace().question(), true, none);
  EXPECT_GT(whole->reads, in_part);
  workspace().ShowCall(whole->files[0].slowest);
  Frames(3);
  EXPECT_EQ(workspace().view, ViewId::kTimeline);
  ASSERT_TRUE(workspace().timeline.span.has_value());
  EXPECT_EQ(workspace().document.timeline->stage(*workspace().timeline.span),
            traces::StageId::kRead);
}

TEST_F(Walk, AClickOnABarListsItsCalls) {
  app_->Show(DocumentOf(traces::MakeTrace(testing::MakeGpuRun({}))));
  workspace().at_once = true;
  workspace().view = ViewId::kStages;
  Frames(3);
  EXPECT_FALSE(workspace().stages.bin.has_value());
  for (float x = 840; x < 1260 && !workspace().stages.bin; x += 8) Click(x, 300);
  EXPECT_TRUE(workspace().stages.bin.has_value());
}

TEST_F(Walk, BothThemesAndLanguagesDrawEverything) {
  ShowRun();
  for (const Theme theme : {Theme::kLight, Theme::kDark}) {
    for (const Language language : {Language::kChinese, Language::kEnglish}) {
      app_->settings().theme = theme;
      app_->settings().language = language;
      app_->RebuildStyle();
      app_->Show(workspace().document);
      for (const ViewInfo& view : kViews) {
        workspace().view = view.id;
        Frames(2);
      }
      EXPECT_EQ(app_->ui().language, language);
    }
  }
}

TEST_F(Walk, KeysZoomAndMoveTheTimeline) {
  ShowRun();
  workspace().view = ViewId::kTimeline;
  Frames(1);
  const TimeRange all = visible();
  for (int i = 0; i < 20; ++i) Press(GLFW_KEY_W);
  const TimeRange near = visible();
  EXPECT_LT(near.length(), all.length() / 2);
  Press(GLFW_KEY_D);
  EXPECT_GT(visible().from, near.from);
  Press(GLFW_KEY_A);
  Press(GLFW_KEY_HOME);
  EXPECT_EQ(visible(), all);
}

TEST_F(Walk, ADragSelectsAndEscapeClears) {
  ShowRun();
  workspace().view = ViewId::kTimeline;
  Frames(1);
  Drag(500, 300, 800, 300);
  ASSERT_TRUE(workspace().timeline.selection.has_value());
  EXPECT_NEAR(static_cast<double>(workspace().timeline.selection->length()) /
                  static_cast<double>(visible().length()),
              300.0 / 1060, 0.03);
  const TimeRange selected = *workspace().timeline.selection;
  Press(GLFW_KEY_F);
  EXPECT_LT(visible().length(), 2 * selected.length());
  Press(GLFW_KEY_ESCAPE);
  EXPECT_FALSE(workspace().timeline.selection.has_value());
}

TEST_F(Walk, CtrlWheelZoomsAtThePointer) {
  ShowRun();
  workspace().view = ViewId::kTimeline;
  Frames(1);
  MoveTo(700, 300);
  const TimeRange before = visible();
  Hold(true, false, false);
  ImGui::GetIO().MouseWheel = 3;
  Frames(1);
  Hold(false, false, false);
  ImGui::GetIO().MouseWheel = 0;
  EXPECT_LT(visible().length(), before.length());
}

TEST_F(Walk, SearchGoesFromHitToHit) {
  ShowRun();
  workspace().view = ViewId::kTimeline;
  Frames(1);
  Press(GLFW_KEY_SLASH);
  Frames(2);
  ASSERT_TRUE(ImGui::GetIO().WantTextInput);
  ImGui::GetIO().AddInputCharactersUTF8("decode");
  Frames(2);
  ASSERT_NE(workspace().search.found, nullptr);
  EXPECT_FALSE(workspace().search.found->hits().empty());
  const TimeRange before = visible();
  Press(GLFW_KEY_W);  // goes into the text, so it does not zoom
  EXPECT_EQ(visible(), before);
  Press(GLFW_KEY_ENTER);
  ASSERT_TRUE(workspace().timeline.span.has_value());
  const SpanRef first = *workspace().timeline.span;
  Frames(2);
  Press(GLFW_KEY_ENTER);
  EXPECT_NE(*workspace().timeline.span, first);
  EXPECT_EQ(workspace().document.timeline->stage(first), traces::StageId::kDecode);
}

TEST_F(Walk, BracketsGoAlongTheBatchAndPeriodAndCommaAlongTheThread) {
  ShowRun();
  workspace().view = ViewId::kTimeline;
  const Timeline& timeline = *workspace().document.timeline;
  const auto stops = StopsOf(timeline, {5, timeline.stops[40].key.generation});
  ASSERT_GE(stops.size(), 3U);
  workspace().timeline.span = stops[0];
  Frames(1);
  Press(GLFW_KEY_RIGHT_BRACKET);
  EXPECT_EQ(workspace().timeline.span, stops[1]);
  Press(GLFW_KEY_LEFT_BRACKET);
  EXPECT_EQ(workspace().timeline.span, stops[0]);
  Press(GLFW_KEY_PERIOD);
  EXPECT_EQ(workspace().timeline.span->index, stops[0].index + 1);
  Press(GLFW_KEY_COMMA);
  EXPECT_EQ(workspace().timeline.span, stops[0]);
}

TEST_F(Walk, BookmarksBringAViewBack) {
  ShowRun();
  workspace().view = ViewId::kTimeline;
  Frames(1);
  for (int i = 0; i < 10; ++i) Press(GLFW_KEY_W);
  const TimeRange kept = visible();
  Press(GLFW_KEY_1, true);
  Press(GLFW_KEY_HOME);
  EXPECT_NE(visible(), kept);
  Press(GLFW_KEY_1);
  EXPECT_NEAR(static_cast<double>(visible().from), static_cast<double>(kept.from), 2);
}

TEST_F(Walk, AClickOnANameFoldsTheProcess) {
  ShowRun();
  workspace().view = ViewId::kTimeline;
  Frames(1);
  const auto rows = LayOutRows(*workspace().document.timeline,
                               workspace().document.analysis->counters, workspace().timeline);
  Click(60, 160);
  EXPECT_EQ(workspace().timeline.folded.size(), 1U);
  EXPECT_LT(LayOutRows(*workspace().document.timeline, workspace().document.analysis->counters,
                       workspace().timeline)
                .size(),
            rows.size());
}

TEST_F(Walk, AFindingLeadsToItsEvidence) {
  ShowRun();
  analyzer::Finding finding;
  finding.from = 0.2;
  finding.to = 0.4;
  workspace().ShowEvidence(finding);
  Frames(2);
  EXPECT_EQ(workspace().view, ViewId::kTimeline);
  EXPECT_FALSE(workspace().timeline.selection.has_value())
      << "a selection would limit the other views";
  EXPECT_LT(visible().length(), 400'000'000);
}

TEST_F(Walk, AFindingAboutAStageLeadsToItsLongestCall) {
  ShowRun();
  analyzer::Finding finding;
  finding.id = "slow-decoder";
  workspace().ShowEvidence(finding);
  Frames(2);
  const Timeline& timeline = *workspace().document.timeline;
  ASSERT_TRUE(workspace().timeline.span.has_value());
  const SpanRef span = *workspace().timeline.span;
  EXPECT_EQ(timeline.stage(span), traces::StageId::kDecode);
  EXPECT_EQ(span, Longest(timeline, traces::StageId::kDecode, {0, timeline.length}));
  EXPECT_EQ(workspace().search.text, "decode");
  ASSERT_NE(workspace().search.found, nullptr);
  EXPECT_EQ(workspace().search.found->hits()[workspace().search.hit], span);
  EXPECT_FALSE(workspace().timeline.selection.has_value());
}

TEST_F(Walk, AFindingClickedBeforeTheTimelineIsLoadedIsShownLater) {
  Synthetic run;
  Document whole = DocumentOf(SyntheticTrace(run));
  Document half = whole;
  half.timeline = nullptr;
  app_->Show(half);
  Frames(2);
  analyzer::Finding finding;
  finding.from = 0.2;
  finding.to = 0.4;
  workspace().ShowEvidence(finding);
  Frames(2);
  EXPECT_FALSE(workspace().timeline.selection.has_value());
  workspace().document = whole;
  workspace().TimelineCame();
  Frames(2);
  EXPECT_EQ(workspace().view, ViewId::kTimeline);
  EXPECT_LT(visible().length(), 400'000'000);
}

TEST_F(Walk, AMissingFileIsAnErrorThatNamesIt) {
  app_->Open("/nowhere/at/all.penstock");
  for (int i = 0; i < 2'000 && app_->loading(); ++i) {
    Frames(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  Frames(1);
  ASSERT_TRUE(app_->error().has_value());
  EXPECT_NE(app_->error()->message.find("/nowhere/at/all.penstock"), std::string::npos);
}

TEST_F(Walk, APreviewIsDrawnInEveryViewAndHasNoSpans) {
  Synthetic run;
  const auto trace = SyntheticTrace(run);
  Document early;
  early.path = "/t/run.penstock";
  early.timeline = std::make_shared<const Timeline>(MakeTimeline(traces::MakePreview(*trace)));
  for (const Language language : {Language::kEnglish, Language::kChinese}) {
    app_->settings().language = language;
    app_->Show(early);
    app_->RebuildStyle();
    for (int digit = 1; digit <= static_cast<int>(kViews.size()); ++digit) {
      Press(GLFW_KEY_0 + digit % 10, false, true);
      Frames(2);
      EXPECT_EQ(workspace().view, kViews[static_cast<std::size_t>(digit) - 1].id);
      MoveTo(640, 300);
      Drag(400, 300, 700, 320);
    }
    EXPECT_TRUE(workspace().timeline.selection.has_value());
    EXPECT_FALSE(workspace().timeline.span.has_value());
  }
}

TEST_F(Walk, SpacePausesAndResumesALiveTrace) {
  Document document = DocumentOf(SyntheticTrace({}));
  document.live = Live::kWriting;
  app_->Show(document);
  for (int digit = 1; digit <= static_cast<int>(kViews.size()); ++digit) {
    Press(GLFW_KEY_0 + digit % 10, false, true);
    EXPECT_FALSE(app_->paused());
    Press(GLFW_KEY_SPACE);
    EXPECT_TRUE(app_->paused());
    Press(GLFW_KEY_SPACE);
  }
  for (const Live live : {Live::kEnded, Live::kDied}) {
    document.live = live;
    app_->Show(document);
    Frames(2);
    Press(GLFW_KEY_SPACE);
    EXPECT_FALSE(app_->paused());
  }
}

TEST_F(Walk, EscapeStopsLoadingAndLeavesWhatWasOpen) {
  ShowRun();
  const auto shown = workspace().document.timeline;
  // This trace is still being written and has no data, so its loading does not end by itself.
  const traces::testing::TempFolder folder;
  const auto writer = traces::CreatePacked(folder / "run.penstock");
  app_->Open(folder / "run.penstock");
  Frames(3);
  ASSERT_TRUE(app_->loading());
  Press(GLFW_KEY_ESCAPE);
  EXPECT_FALSE(app_->loading());
  Frames(2);
  EXPECT_FALSE(app_->error().has_value());
  EXPECT_EQ(workspace().document.timeline, shown);
}

TEST_F(Walk, WrappedLinesLoseNoTextAndBeginWithNoSpace) {
  ShowRun();
  ImFont* font = app_->ui().body;
  const std::string text =
      "Make a sample cheaper (a faster decoder, decoding at reduced size, caching what repeats) "
      "训练循环有百分之六十二的时间在等待数据，数值仅供粗略参考。 "
      "/a/very/long/path/without/any/space";
  for (float width = 40; width < 400; width += 3) {
    std::string joined;
    for (const std::string& line : WrapText(font, text, width)) {
      EXPECT_NE(line[0], ' ') << width;
      joined += line;
    }
    EXPECT_EQ(joined, text);
  }
}

TEST_F(Walk, EveryViewDrawsInASmallWindow) {
  ShowRun();
  ImGui::GetIO().DisplaySize = {800, 500};
  for (const ViewInfo& view : kViews) {
    workspace().view = view.id;
    Frames(3);
    EXPECT_GT(ImGui::GetDrawData()->TotalVtxCount, 100);
  }
}

TEST_F(Walk, HelpOpensAndClosesAndKeepsKeysToItself) {
  ShowRun();
  workspace().view = ViewId::kTimeline;
  workspace().timeline.selection = TimeRange{1'000'000, 2'000'000};
  Frames(1);
  const int without_help = ImGui::GetDrawData()->TotalVtxCount;
  Press(GLFW_KEY_F1);
  Frames(2);
  EXPECT_TRUE(workspace().help);
  EXPECT_GT(ImGui::GetDrawData()->TotalVtxCount, without_help + 1'000);
  Press(GLFW_KEY_ESCAPE);
  EXPECT_FALSE(workspace().help);
  EXPECT_TRUE(workspace().timeline.selection.has_value());  // Escape closed the help only
  Press(GLFW_KEY_SLASH, false, false, true);
  EXPECT_TRUE(workspace().help);
  Press(GLFW_KEY_F1);
  EXPECT_FALSE(workspace().help);
  Press(GLFW_KEY_Q, true);
  EXPECT_TRUE(app_->quit());
}

}  // namespace
}  // namespace penstock::gui
