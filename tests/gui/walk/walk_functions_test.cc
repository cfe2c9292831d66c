// SPDX-License-Identifier: Apache-2.0
//
// Functions in the stages view: mouse and keys in the flame graph.
#include "tests/gui/functions_support.h"
#include "tests/gui/walk/walk.h"

namespace penstock::gui {
namespace {

using testing::DocumentOf;
using testing::Walk;

const FunctionId kEdges{"/home/a/dataset.py", 47, "make_edges"};
const FunctionId kItem{"/home/a/dataset.py", 20, "Photos.__getitem__"};

class WalkFunctions : public Walk {
 protected:
  void ShowFunctions() {
    app_->Show(DocumentOf(traces::MakeTrace(testing::RunWithFunctions(kEdges.file, 4))));
    workspace().at_once = true;
    workspace().view = ViewId::kStages;
    Frames(2);
    Press(GLFW_KEY_F);
  }
  FunctionsState& state() { return workspace().stages.functions; }
  // Clicks down a column of the flame graph until a frame is zoomed (`zoomed`), or until no frame
  // is zoomed (not `zoomed`).
  void ClickUntil(float x, bool zoomed) {
    for (float y = 100; y < 420 && state().zoomed.empty() == zoomed; y += 6) Click(x, y);
  }
};

TEST_F(WalkFunctions, FChangesBetweenFunctionsAndDurations) {
  ShowFunctions();
  EXPECT_TRUE(workspace().functions);
  Press(GLFW_KEY_F);
  EXPECT_FALSE(workspace().functions);
}

TEST_F(WalkFunctions, EnterZoomsIntoTheLargestFunctionAndHomeLeadsBack) {
  ShowFunctions();
  EXPECT_TRUE(state().zoomed.empty());
  Press(GLFW_KEY_ENTER);
  EXPECT_EQ(state().zoomed, (FramePath{kItem, kEdges}));
  Press(GLFW_KEY_HOME);
  EXPECT_TRUE(state().zoomed.empty());
  Press(GLFW_KEY_ENTER);
  Press(GLFW_KEY_ENTER);
  EXPECT_TRUE(state().zoomed.empty()) << "the second leads back too";
}

TEST_F(WalkFunctions, ArrowsChooseFrames) {
  ShowFunctions();
  Press(GLFW_KEY_UP);
  EXPECT_EQ(state().chosen, kItem);
  Press(GLFW_KEY_DOWN);
  EXPECT_EQ(state().chosen, kEdges);
  Press(GLFW_KEY_RIGHT);
  ASSERT_TRUE(state().chosen.has_value());
  EXPECT_EQ(state().chosen->name, "cv2.imdecode");
}

TEST_F(WalkFunctions, AnArrowThatLeavesWhatIsZoomedShowsAllAgain) {
  ShowFunctions();
  Press(GLFW_KEY_ENTER);
  Press(GLFW_KEY_RIGHT);
  EXPECT_TRUE(state().zoomed.empty());
}

TEST_F(WalkFunctions, AClickZoomsIntoAFrameAndOnTheTopBarBack) {
  ShowFunctions();
  ClickUntil(300, true);
  EXPECT_EQ(state().zoomed, (FramePath{kItem}));
  ClickUntil(300, false);
  EXPECT_TRUE(state().zoomed.empty());
}

TEST_F(WalkFunctions, AClickOnARowChoosesItsFunction) {
  ShowFunctions();
  Press(GLFW_KEY_UP);
  ASSERT_EQ(state().chosen, kItem);
  for (float y = 300; y < 700 && state().chosen != kEdges; y += 6) Click(200, y);
  EXPECT_EQ(state().chosen, kEdges);
  EXPECT_EQ(state().frame, (FramePath{kItem, kEdges}));
}

TEST_F(WalkFunctions, AFindingAboutAFunctionLeadsToIt) {
  ShowFunctions();
  workspace().view = ViewId::kOverview;
  workspace().functions = false;
  analyzer::Finding finding;
  finding.id = "slow-call";
  finding.evidence = {{"function", kItem.name}, {"file", kItem.file}, {"first_line", 20.0}};
  workspace().ShowEvidence(finding);
  Frames(2);
  EXPECT_EQ(workspace().view, ViewId::kStages);
  EXPECT_TRUE(workspace().functions);
  EXPECT_EQ(state().chosen, kItem);
  EXPECT_EQ(state().stage, traces::StageId::kSample);
}

TEST_F(WalkFunctions, SComparesSlowSamplesWithTheOthers) {
  ShowFunctions();
  EXPECT_FALSE(state().slow);
  Press(GLFW_KEY_S);
  EXPECT_TRUE(state().slow);
  Frames(2);
}

TEST_F(WalkFunctions, EveryThemeAndLanguageDrawsEveryFrame) {
  ShowFunctions();
  for (const Theme theme : {Theme::kLight, Theme::kDark}) {
    for (const Language language : {Language::kChinese, Language::kEnglish}) {
      app_->settings().theme = theme;
      app_->settings().language = language;
      app_->RebuildStyle();
      for (const bool slow : {false, true}) {
        state().slow = slow;
        for (float y = 140; y < 240; y += 22) MoveTo(300, y);
      }
      EXPECT_EQ(app_->ui().language, language);
    }
  }
}

TEST_F(WalkFunctions, WithoutFollowedCallsTheCommandThatRecordsAgainIsCopied) {
  ShowRun();
  workspace().view = ViewId::kStages;
  workspace().functions = true;
  Frames(2);
  for (float y = 150; y < 500 && workspace().copied.empty(); y += 6) Click(915, y);
  EXPECT_TRUE(workspace().copied.starts_with("penstock record -- ")) << workspace().copied;
}

TEST_F(WalkFunctions, WhereItWasSwitchedOffTheCommandSwitchesItOn) {
  traces::TraceData data = analyzer::testing::MakeSynthetic({});
  data.facts["functions.off"] = "switched off";
  app_->Show(DocumentOf(traces::MakeTrace(std::move(data))));
  workspace().view = ViewId::kStages;
  workspace().functions = true;
  Frames(2);
  for (float y = 150; y < 500 && workspace().copied.empty(); y += 6) Click(915, y);
  EXPECT_TRUE(workspace().copied.starts_with("env -u PENSTOCK_FUNCTIONS penstock record -- "))
      << workspace().copied;
}

TEST_F(WalkFunctions, ASelectionWithoutFollowedSamplesIsDrawn) {
  ShowFunctions();
  workspace().timeline.selection = TimeRange{0, 50'000'000};
  Frames(2);
  ASSERT_TRUE(Until([this] { return !workspace().ranges->busy(); }));
  Frames(2);
  EXPECT_TRUE(workspace().Shown().analysis->functions.profiles.empty());
}

TEST_F(WalkFunctions, ALowWindowScrolls) {
  ShowFunctions();
  ImGui::GetIO().DisplaySize = {640, 320};
  Frames(3);
  Press(GLFW_KEY_ENTER);
  EXPECT_FALSE(state().zoomed.empty());
}

}  // namespace
}  // namespace penstock::gui
