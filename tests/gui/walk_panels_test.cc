// SPDX-License-Identifier: Apache-2.0
//
// What panels of several views draw with, and the words in them.
#include "gui/views/panel_parts.h"
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

}  // namespace
}  // namespace penstock::gui
