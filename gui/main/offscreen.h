// SPDX-License-Identifier: Apache-2.0
//
// A picture without a display: an OpenGL context by EGL, a framebuffer, an ImGui context of its
// own. One at a time; everything on one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "gui/widgets/early_fonts.h"
#include "traces/base/result.h"

struct ImGuiContext;

namespace penstock::gui {

struct Image {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgb;  // [height][width][3], top row first
};

class Offscreen {
 public:
  // With `fonts`, which outlive it, or an atlas of its own.
  // Errors: kEnvironment if there is no EGL or no OpenGL 3.
  static Result<std::unique_ptr<Offscreen>> Make(int width, int height,
                                                 EarlyFonts* fonts = nullptr);
  ~Offscreen();
  Offscreen(const Offscreen&) = delete;
  Offscreen& operator=(const Offscreen&) = delete;

  // Uploads the fonts anew.
  void RemakeFonts();
  // One frame: `draw` runs between NewFrame() and Render(). 1/60 s passes for ImGui.
  void Frame(const std::function<void()>& draw);
  // Waits until the last frame is drawn.
  void Finish() const;
  // What the last frame shows.
  [[nodiscard]] Image Read() const;

 private:
  Offscreen() = default;
  struct Screen;
  std::unique_ptr<Screen> screen_;
  ImGuiContext* context_ = nullptr;
  int width_ = 0;
  int height_ = 0;
  unsigned framebuffer_ = 0;
  unsigned texture_ = 0;
};

// Errors: kOutput.
[[nodiscard]] Result<void> WritePng(const std::string& path, const Image& image);

}  // namespace penstock::gui
