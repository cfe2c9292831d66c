// SPDX-License-Identifier: Apache-2.0
//
// A person at work: injected keys and mouse, frame by frame, without a window. Every view is
// visited; what the input must have done is read from the workspace.
#include <GLFW/glfw3.h>
#include <gtest/gtest.h>
#include <imgui.h>

#include "gui/main/app.h"
#include "tests/analyzer/synthetic.h"
#include "tests/gui/support.h"
#include "tests/traces/support.h"

namespace penstock::gui {
namespace {

using analyzer::testing::Always;
using analyzer::testing::Synthetic;
using analyzer::testing::SyntheticTrace;

Document DocumentOf(std::unique_ptr<traces::Trace> trace) {
  Document document;
  document.path = "/t/run.penstock";
  document.trace = std::move(trace);
  document.timeline = std::make_shared<const Timeline>(*BuildTimeline(*document.trace));
  auto analysis = std::make_shared<Analysis>();
  analysis->report = analyzer::BuildReport(*document.trace, "/t/run.penstock");
  analysis->plots = analyzer::BuildPlots(*document.trace, analysis->report);
  analysis->counters = BuildCounters(*document.trace, *analysis);
  document.analysis = std::move(analysis);
  return document;
}

class Walk : public ::testing::Test {
 protected:
  void SetUp() override {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = {1280, 720};
    io.DeltaTime = 1.0F / 60;
    io.MousePos = {-1000, -1000};
    // Key numbers as GLFW's backend would set them.
    io.KeyMap[ImGuiKey_Enter] = GLFW_KEY_ENTER;
    io.KeyMap[ImGuiKey_Escape] = GLFW_KEY_ESCAPE;
    app_ = std::make_unique<App>(Settings{}, 1.0F, [] {});
  }
  void TearDown() override {
    app_.reset();
    ImGui::DestroyContext();
  }

  void ShowRun() {
    Synthetic run;
    run.costs = Always({.read = 1, .decode = 12, .augment = 3, .step = 4});
    app_->Show(DocumentOf(SyntheticTrace(run)));
    Frames(3);
  }

  void Frames(int count) {
    for (int i = 0; i < count; ++i) {
      if (app_->TakeStyleChange()) {
        app_->RebuildStyle();
        unsigned char* pixels = nullptr;
        int width = 0;
        int height = 0;
        ImGui::GetIO().Fonts->GetTexDataAsRGBA32(&pixels, &width, &height);
        ImGui::GetIO().Fonts->SetTexID(reinterpret_cast<ImTextureID>(this));
      }
      ImGui::NewFrame();
      app_->Frame();
      ImGui::Render();
      EXPECT_GT(ImGui::GetDrawData()->TotalVtxCount, 0);
    }
  }

  void Press(int key, bool ctrl = false, bool alt = false) {
    ImGuiIO& io = ImGui::GetIO();
    io.KeyCtrl = ctrl;
    io.KeyAlt = alt;
    io.KeysDown[key] = true;
    Frames(1);
    io.KeysDown[key] = false;
    io.KeyCtrl = false;
    io.KeyAlt = false;
    Frames(1);
  }

  void MoveTo(float x, float y) {
    ImGui::GetIO().MousePos = {x, y};
    Frames(1);
  }

  void Drag(float x0, float y0, float x1, float y1) {
    MoveTo(x0, y0);
    ImGui::GetIO().MouseDown[0] = true;
    Frames(1);
    MoveTo((x0 + x1) / 2, (y0 + y1) / 2);
    MoveTo(x1, y1);
    ImGui::GetIO().MouseDown[0] = false;
    Frames(1);
  }

  void Click(float x, float y) {
    MoveTo(x, y);
    ImGui::GetIO().MouseDown[0] = true;
    Frames(1);
    ImGui::GetIO().MouseDown[0] = false;
    Frames(1);
  }

  Workspace& workspace() { return app_->workspace(); }
  TimeRange visible() { return workspace().timeline.view.range(); }

  std::unique_ptr<App> app_;
};

TEST_F(Walk, EveryViewDrawsEveryTrace) {
  const auto visit = [this](Document document) {
    app_->Show(std::move(document));
    for (int digit = 1; digit <= 5; ++digit) {
      Press(GLFW_KEY_0 + digit, false, true);
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
  ImGui::GetIO().KeyCtrl = true;
  ImGui::GetIO().MouseWheel = 3;
  Frames(1);
  ImGui::GetIO().KeyCtrl = false;
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
  Press(GLFW_KEY_W);  // a letter, not a movement, while the field has the keyboard
  EXPECT_EQ(visible(), before);
  Press(GLFW_KEY_ENTER);
  ASSERT_TRUE(workspace().timeline.span.has_value());
  const SpanRef first = *workspace().timeline.span;
  Frames(2);
  Press(GLFW_KEY_ENTER);
  EXPECT_NE(*workspace().timeline.span, first);
  EXPECT_EQ(workspace().document.timeline->stage(first), traces::StageId::kDecode);
}

TEST_F(Walk, PointsAndBracketsWalkFromSpanToSpan) {
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
  EXPECT_EQ(workspace().timeline.selection, (TimeRange{200'000'000, 400'000'000}));
  EXPECT_LT(visible().length(), 400'000'000);
}

TEST_F(Walk, AFileThatIsNoTraceIsSaidAndForgotten) {
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
    for (int digit = 1; digit <= 5; ++digit) {
      Press(GLFW_KEY_0 + digit, false, true);
      Frames(2);
      EXPECT_EQ(workspace().view, kViews[static_cast<std::size_t>(digit) - 1].id);
      MoveTo(640, 300);
      Drag(400, 300, 700, 320);
    }
    EXPECT_TRUE(workspace().timeline.selection.has_value());
    EXPECT_FALSE(workspace().timeline.span.has_value());
  }
}

TEST_F(Walk, SpacePausesWhatIsLiveAndGoesOn) {
  Document document = DocumentOf(SyntheticTrace({}));
  document.live = Live::kWriting;
  app_->Show(document);
  for (int digit = 1; digit <= 5; ++digit) {
    Press(GLFW_KEY_0 + digit, false, true);
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
  // Being written, with nothing in it so far: that can take any time.
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

TEST_F(Walk, WrappedLinesFitAndBeginWithAWord) {
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

TEST_F(Walk, ASmallWindowScrollsInsteadOfOverlapping) {
  ShowRun();
  ImGui::GetIO().DisplaySize = {800, 500};
  for (const ViewInfo& view : kViews) {
    workspace().view = view.id;
    Frames(3);
    EXPECT_GT(ImGui::GetDrawData()->TotalVtxCount, 100);
  }
}

TEST_F(Walk, HelpOpensAndCloses) {
  ShowRun();
  Press(GLFW_KEY_F1);
  Frames(2);
  Press(GLFW_KEY_ESCAPE);
  Press(GLFW_KEY_Q, true);
  EXPECT_TRUE(app_->quit());
}

}  // namespace
}  // namespace penstock::gui
