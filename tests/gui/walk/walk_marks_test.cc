// SPDX-License-Identifier: Apache-2.0
//
// Bookmarks, notes, pinned rows and folded processes of a trace are kept after the dashboard has
// ended. The wheel scrolls or zooms, as the settings say.
#include <filesystem>

#include "tests/gui/walk/walk.h"
#include "tests/traces/support.h"

namespace penstock::gui {
namespace {

namespace fs = std::filesystem;

class WalkMarks : public testing::Walk {
 protected:
  void SetUp() override {
    Walk::SetUp();
    traces::RecordingWriter recording = traces::testing::SmallRecording();
    traces::testing::WriteFile(folder_ / "run.recording", traces::testing::Bytes(recording));
  }

  void Open(const fs::path& path) {
    app_->UseMarks(folder_ / "marks");
    app_->Open(path);
    ASSERT_TRUE(Until([&] {
      return workspace().document.complete() && workspace().document.trace && !app_->loading();
    }));
    workspace().view = ViewId::kTimeline;
    Frames(2);
  }
  [[nodiscard]] std::size_t CountMarkFiles() const {
    std::error_code error;
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder_ / "marks", error)) {
      if (entry.path().extension() == ".marks") ++count;
    }
    return count;
  }
  TimelineState& state() { return workspace().timeline; }

  traces::testing::TempFolder folder_;
};

TEST_F(WalkMarks, ABookmarkIsKeptWhenTheTraceIsMoved) {
  Open(folder_ / "run.recording");
  Press(GLFW_KEY_EQUAL);
  Press(GLFW_KEY_EQUAL);
  const TimeRange near = visible();
  Press(GLFW_KEY_4, true);
  ASSERT_TRUE(state().bookmarks[3].has_value());
  EXPECT_EQ(CountMarkFiles(), 1U);
  Press(GLFW_KEY_0);
  Restart();
  fs::rename(folder_ / "run.recording", folder_ / "moved.recording");
  Open(folder_ / "moved.recording");
  ASSERT_NE(visible(), near);
  Press(GLFW_KEY_4);
  EXPECT_EQ(visible(), near);
  Press(GLFW_KEY_LEFT, false, true);
  EXPECT_NE(visible(), near) << "Alt+Left goes back to where the jump came from";
}

TEST_F(WalkMarks, NotesPinsAndFoldsAreKeptAndTheirFileIsRemovedWithTheLast) {
  Open(folder_ / "run.recording");
  EXPECT_EQ(CountMarkFiles(), 0U);
  state().selection = TimeRange{1'000, 5'000};
  Press(GLFW_KEY_M, false, false, true);
  ASSERT_EQ(state().notes.size(), 1U);
  state().notes[0].text = "here";
  const auto rows = LayOutRows(*workspace().document.timeline, {}, state());
  for (const Row& row : rows) {
    if (row.kind == RowKind::kLevel && row.first_of_lane && state().pins.empty()) {
      state().TogglePin(row.name);
    }
  }
  state().ToggleFold(0);
  Frames(2);
  const TimelineState before = state();
  Restart();
  Open(folder_ / "run.recording");
  EXPECT_EQ(state().notes, before.notes);
  EXPECT_EQ(state().pins, before.pins);
  EXPECT_EQ(state().folded, before.folded);
  state().notes.clear();
  state().pins.clear();
  state().folded.clear();
  Frames(2);
  EXPECT_EQ(CountMarkFiles(), 0U);
}

TEST_F(WalkMarks, TheWheelScrollsUnlessZoomingWasChosen) {
  Open(folder_ / "run.recording");
  const TimeRange all = visible();
  MoveTo(700, 400);
  ImGui::GetIO().MouseWheel = 1;
  Frames(1);
  EXPECT_EQ(visible(), all) << "the wheel scrolls";
  app_->settings().wheel = Wheel::kZoom;
  Frames(1);
  ImGui::GetIO().MouseWheel = 1;
  Frames(1);
  const TimeRange near = visible();
  EXPECT_LT(near.length(), all.length());
  Hold(true, false, false);
  ImGui::GetIO().MouseWheel = 1;
  Frames(1);
  Hold(false, false, false);
  EXPECT_EQ(visible(), near) << "once the wheel zooms, Ctrl makes it scroll";
}

}  // namespace
}  // namespace penstock::gui
