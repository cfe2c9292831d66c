// SPDX-License-Identifier: Apache-2.0
//
// A person at work: injected keys and mouse, frame by frame, without a window.
#pragma once

#include <GLFW/glfw3.h>
#include <gtest/gtest.h>
#include <imgui.h>

#include <memory>
#include <utility>

#include "gui/main/app.h"
#include "tests/analyzer/synthetic.h"
#include "tests/gui/support.h"

namespace penstock::gui {

using analyzer::testing::Always;
using analyzer::testing::Synthetic;
using analyzer::testing::SyntheticTrace;

inline Document DocumentOf(std::unique_ptr<traces::Trace> trace) {
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

  void Press(int key, bool ctrl = false, bool alt = false, bool shift = false) {
    ImGuiIO& io = ImGui::GetIO();
    io.KeyShift = shift;
    io.KeyCtrl = ctrl;
    io.KeyAlt = alt;
    io.KeysDown[key] = true;
    Frames(1);
    io.KeysDown[key] = false;
    io.KeyCtrl = false;
    io.KeyAlt = false;
    io.KeyShift = false;
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

}  // namespace penstock::gui
