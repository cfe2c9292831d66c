// SPDX-License-Identifier: Apache-2.0
//
// What a frame shows: its fills in the order of drawing, and the place of each character of each
// text. A value that is made from the draw data of one frame, and does not need that data later.
#pragma once

#include <imgui.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "gui/model/palette.h"
#include "tests/gui/layout/text_calls.h"

namespace penstock::gui::testing {

struct Box {
  float x0 = 0;
  float y0 = 0;
  float x1 = 0;
  float y1 = 0;
  [[nodiscard]] float width() const { return x1 - x0; }
  [[nodiscard]] float height() const { return y1 - y0; }
  [[nodiscard]] bool empty() const { return x1 <= x0 || y1 <= y0; }
};
[[nodiscard]] Box Common(const Box& a, const Box& b);

// A character as it was drawn.
struct Glyph {
  Box ink;                // all of it
  Box seen;               // the part inside its clip rectangle
  std::size_t order = 0;  // its number among all fills and characters of the frame
  ImU32 colour = 0;
};

struct SeenText {
  TextCall call;
  std::vector<Glyph> glyphs;
  std::size_t layer = 0;  // number of its draw list in the frame
  std::string window;     // the window that it is drawn in
  std::string root;       // the outermost window around `window`
  bool scrolls = false;   // scrolling reaches the parts above or below
  bool scrolls_sideways = false;
};

class Scene {
 public:
  // `scrolls_by_itself`: the view moves and cuts off its rows without ImGui's scrolling.
  // Requires: ImGui::Render() has been called, and `calls` are those of this frame.
  Scene(const ImDrawData& data, std::vector<TextCall> calls, bool scrolls_by_itself);

  [[nodiscard]] const std::vector<SeenText>& texts() const { return texts_; }
  // The colour at a point that results from the fills before number `order`.
  [[nodiscard]] Rgb Behind(ImVec2 at, std::size_t order) const;
  // The fraction of the colour at a point that the fills after number `order` let through.
  [[nodiscard]] double Showing(ImVec2 at, std::size_t order) const;
  [[nodiscard]] ImVec2 size() const { return size_; }

 private:
  struct Fill {
    std::array<ImVec2, 3> at;
    std::array<ImU32, 3> colour;
    Box clip;
    std::size_t order;
  };
  void AddList(const ImDrawList& list, std::size_t layer);
  void AddFill(const Fill& fill);
  template <class Use>
  void ForFills(ImVec2 at, const Use& use) const;

  ImVec2 size_;
  int columns_ = 0;
  int rows_ = 0;
  std::vector<Fill> fills_;
  std::vector<std::vector<std::size_t>> cells_;  // for each cell of a grid its fills, in order
  std::vector<SeenText> texts_;
  std::size_t order_ = 0;
};

}  // namespace penstock::gui::testing
