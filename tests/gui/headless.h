// SPDX-License-Identifier: Apache-2.0
//
// An App in a Dear ImGui context without a window, for tests of input and for measurements of time.
#pragma once

#include <imgui.h>

#include <memory>

#include "gui/main/app.h"

namespace penstock::gui::testing {

class Headless {
 public:
  Headless(float width, float height) {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = {width, height};
    io.DeltaTime = 1.0F / 60;
    io.MousePos = {-1000, -1000};
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;  // as in the backend of OpenGL
    app_ = std::make_unique<App>(Settings{}, 1.0F, [] {});
  }
  ~Headless() {
    app_.reset();
    ImGui::DestroyContext();
  }
  Headless(const Headless&) = delete;
  Headless& operator=(const Headless&) = delete;

  void Frame() {
    if (app_->TakeStyleChange()) app_->RebuildStyle();
    PretendToRender();
    ImGui::NewFrame();
    app_->Frame();
    ImGui::Render();
    PretendToRender();
  }

  [[nodiscard]] App& app() { return *app_; }
  // Makes a new App, as after a new start of the program.
  void Restart() {
    app_ = std::make_unique<App>(Settings{}, 1.0F, [] {});
  }

 private:
  std::unique_ptr<App> app_;
};

}  // namespace penstock::gui::testing
