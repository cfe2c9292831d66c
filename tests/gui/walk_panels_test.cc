// SPDX-License-Identifier: Apache-2.0
//
// What panels of several views draw with, and the words in them.
#include "gui/views/panel_parts.h"
#include "gui/views/timeline_canvas.h"
#include "tests/gui/walk.h"

namespace penstock::gui {
namespace {

using testing::Walk;

class WalkPanels : public Walk {
 protected:
  void SetUp() override {
    Walk::SetUp();
    ShowRun();
  }
  const Ui& ui() { return app_->ui(); }
};

TEST_F(WalkPanels, ABoxOfCodeIsNoHigherThanItsMostLines) {
  std::string code = "python train.py";
  for (int i = 0; i < 40; ++i) code += " --option value";
  const float four = CodeBoxHeight(ui(), code, 300, 4);
  EXPECT_FLOAT_EQ(four, (ui().mono->FontSize + ui().Px(3)) * 4 + ui().Px(15));
  EXPECT_GT(CodeBoxHeight(ui(), code, 300), four);
  // What fits is not cut.
  EXPECT_FLOAT_EQ(CodeBoxHeight(ui(), "python", 300, 4), CodeBoxHeight(ui(), "python", 300));
}

TEST(LaneLabelTest, IsSaidInTheWindowsLanguageAndANameOfItsOwnStays) {
  Ui english;
  Ui chinese;
  chinese.language = Language::kChinese;
  Lane lane;
  lane.tid = 123;
  EXPECT_EQ(LaneLabel(english, lane), "thread 123");
  EXPECT_EQ(LaneLabel(chinese, lane), "线程 123");
  lane.label = "thread 7";
  EXPECT_EQ(LaneLabel(chinese, lane), "thread 7");
  lane.main = true;
  EXPECT_EQ(LaneLabel(english, lane), "main");
  EXPECT_EQ(LaneLabel(chinese, lane), "主线程");
  lane.main = false;
  lane.stream = {0, 7};
  EXPECT_EQ(LaneLabel(english, lane), "GPU 0 stream 7");
  EXPECT_EQ(LaneLabel(chinese, lane), "GPU 0 流 7");
}

}  // namespace
}  // namespace penstock::gui
