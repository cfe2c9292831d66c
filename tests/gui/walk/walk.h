// SPDX-License-Identifier: Apache-2.0
//
// Plays a person's keys and mouse, frame by frame, without a window. Tests read the effect of the
// input from the workspace.
#pragma once

#include <GLFW/glfw3.h>
#include <gtest/gtest.h>
#include <imgui.h>

#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "gui/main/app.h"
#include "gui/widgets/keys.h"
#include "tests/analyzer/synthetic.h"
#include "tests/gui/headless.h"
#include "tests/gui/panels_support.h"
#include "tests/gui/support.h"

namespace penstock::gui::testing {

class Walk : public ::testing::Test {
 protected:
  void SetUp() override {
    window_ = std::make_unique<Headless>(1280.0F, 720.0F);
    KnowKeys();
    app_ = &window_->app();
  }
  void TearDown() override { window_.reset(); }

  void ShowRun() {
    analyzer::testing::Synthetic run;
    run.costs = analyzer::testing::Always({.read = 1, .decode = 12, .augment = 3, .step = 4});
    app_->Show(DocumentOf(analyzer::testing::SyntheticTrace(run)));
    Frames(3);
  }

  void Frames(int count) {
    for (int i = 0; i < count; ++i) {
      window_->Frame();
      EXPECT_GT(ImGui::GetDrawData()->TotalVtxCount, 0);
    }
  }

  // Ends the program and starts it anew.
  void Restart() {
    window_->Restart();
    app_ = &window_->app();
  }

  void Press(int key, bool ctrl = false, bool alt = false, bool shift = false) {
    Hold(ctrl, alt, shift);
    SendKey(nullptr, {key, 0, GLFW_PRESS, mods_});
    Frames(1);
    SendKey(nullptr, {key, 0, GLFW_RELEASE, mods_});
    Hold(false, false, false);
    Frames(1);
  }

  // Holds down these modifiers from the next frame on, and releases the others.
  void Hold(bool ctrl, bool alt, bool shift) {
    const auto set = [this](int key, int bit, bool down) {
      if (((mods_ & bit) != 0) == down) return;
      SendKey(nullptr, {key, 0, down ? GLFW_PRESS : GLFW_RELEASE, mods_});
      mods_ ^= bit;
    };
    set(GLFW_KEY_LEFT_CONTROL, GLFW_MOD_CONTROL, ctrl);
    set(GLFW_KEY_LEFT_ALT, GLFW_MOD_ALT, alt);
    set(GLFW_KEY_LEFT_SHIFT, GLFW_MOD_SHIFT, shift);
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

  // Draws frames until `holds` is true. Used to wait for the result of another thread.
  template <class Condition>
  [[nodiscard]] bool Until(Condition holds) {
    for (int i = 0; i < 20'000; ++i) {
      Frames(1);
      if (holds()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return false;
  }

  Workspace& workspace() { return app_->workspace(); }
  TimeRange visible() { return workspace().timeline.view.range(); }

  std::unique_ptr<Headless> window_;
  App* app_ = nullptr;  // belongs to window_
  int mods_ = 0;        // the held modifiers, as GLFW writes them
};

}  // namespace penstock::gui::testing
