// SPDX-License-Identifier: Apache-2.0
//
// The names of threads in the timeline, and the column for the names of rows.
#include <memory>

#include "gui/views/timeline/timeline_canvas.h"
#include "tests/gui/walk/walk.h"

namespace penstock::gui {
namespace {

class WalkLabels : public testing::Walk {};

// Of "GPU of rank 1, stream 1007" a row said "GPU of rank 1, stream 1...", beside few spans.
TEST_F(WalkLabels, TheColumnOfNamesIsAsWideAsTheNameOfAThread) {
  ShowRun();
  constexpr float kWide = 1900;
  const Ui& ui = app_->ui();
  const float before = LabelsWidth(ui, workspace(), kWide);
  const auto timeline = std::make_shared<Timeline>(*workspace().document.timeline);
  Lane& lane = timeline->lanes.back();
  lane.main = false;
  lane.role = LaneRole::kNone;
  lane.label = "a stream of rank 1 with a number that is long, 1007";
  const float name = TextWidth(ui.small, LaneLabel(ui, lane));
  workspace().document.timeline = timeline;
  EXPECT_GT(LabelsWidth(ui, workspace(), kWide), before);
  EXPECT_GE(LabelsWidth(ui, workspace(), kWide), name);
  EXPECT_LE(LabelsWidth(ui, workspace(), 1000), 0.25F * 1000);
}

TEST(LaneLabelTest, IsTranslatedUnlessTheThreadHasAName) {
  Ui english;
  Ui chinese;
  chinese.language = Language::kChinese;
  Lane lane;
  lane.tid = 123;
  EXPECT_EQ(LaneLabel(english, lane), "thread 123");
  EXPECT_EQ(LaneLabel(chinese, lane), "线程 123");
  lane.label = "thread 7";
  EXPECT_EQ(LaneLabel(chinese, lane), "thread 7");
  lane.alike = true;
  EXPECT_EQ(LaneLabel(english, lane), "thread 7 (123)");
  lane.main = true;
  EXPECT_EQ(LaneLabel(english, lane), "main");
  EXPECT_EQ(LaneLabel(chinese, lane), "主线程");
  lane.main = false;
  lane.stream = {0, 7};
  EXPECT_EQ(LaneLabel(english, lane), "GPU 0 stream 7");
  EXPECT_EQ(LaneLabel(chinese, lane), "GPU 0 流 7");
  lane.rank_of_device = 3;
  EXPECT_EQ(LaneLabel(english, lane), "GPU of rank 3, stream 7");
}

}  // namespace
}  // namespace penstock::gui
