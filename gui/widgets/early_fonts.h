// SPDX-License-Identifier: Apache-2.0
//
// Makes the fonts of the first frames on a thread while a window or a picture is opened. The fonts
// take some 25 ms, and so does the opening. An EarlyFonts outlives the ImGui context that uses its
// atlas. With kDynamicFonts there is nothing to make, because characters are made when they are
// drawn; the context then has its own atlas.
#pragma once

#include <imgui.h>

#include <string_view>
#include <thread>

#include "gui/widgets/ui.h"

namespace penstock::gui {

class EarlyFonts {
 public:
  // Begins to make them. Requires: there is no ImGui context, and none is made before atlas().
  EarlyFonts(float scale, Language language);
  ~EarlyFonts() = default;
  EarlyFonts(const EarlyFonts&) = delete;
  EarlyFonts& operator=(const EarlyFonts&) = delete;

  // Waits for the fonts and returns the atlas for ImGui::CreateContext(); null if the context is to
  // have its own.
  [[nodiscard]] ImFontAtlas* atlas();
  // Gives the fonts to `ui` if they are those that LoadFonts() would make for it, and returns
  // whether it did. It does so once: later fonts are made anew in the same atlas.
  [[nodiscard]] bool Give(Ui& ui, std::string_view extra, Glyphs which);

 private:
  ImFontAtlas atlas_;
  Ui made_;
  bool given_ = false;
  std::jthread thread_;  // last: it writes the rest until it is joined
};

}  // namespace penstock::gui
