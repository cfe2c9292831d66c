// SPDX-License-Identifier: Apache-2.0
//
// Draws a picture without a display, with an OpenGL context from EGL, a framebuffer and its own
// ImGui context. One may exist at a time; everything happens on one thread.
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
  // `fonts` must outlive the result; nullptr: the result has its own atlas. Errors: kEnvironment if
  // there is no EGL or no OpenGL 3.
  static Result<std::unique_ptr<Offscreen>> Make(int width, int height,
                                                 EarlyFonts* fonts = nullptr);
  ~Offscreen();
  Offscreen(const Offscreen&) = delete;
  Offscreen& operator=(const Offscreen&) = delete;

  // Uploads the fonts again.
  void RemakeFonts();
  // Draws one frame: `draw` runs between NewFrame() and Render(). ImGui's clock advances by 1/60 s.
  void Frame(const std::function<void()>& draw);
  // Waits until the last frame is drawn.
  void Finish() const;
  // Reads the pixels of the last frame.
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
