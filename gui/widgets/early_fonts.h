// SPDX-License-Identifier: Apache-2.0
//
// Makes the fonts of the first frames on a thread while a window or a picture is opened. The fonts
// take some 25 ms, and opening takes as long. An EarlyFonts must outlive the ImGui context that
// uses its atlas. With kDynamicFonts there is nothing to make, because characters are made when
// they are drawn; the context then has its own atlas.
#pragma once

#include <imgui.h>

#include <string_view>
#include <thread>

#include "gui/widgets/ui.h"

namespace penstock::gui {

class EarlyFonts {
 public:
  // Begins to make the fonts. Requires: there is no ImGui context, and none is made before atlas().
  EarlyFonts(float scale, Language language);
  ~EarlyFonts() = default;
  EarlyFonts(const EarlyFonts&) = delete;
  EarlyFonts& operator=(const EarlyFonts&) = delete;

  // Waits for the fonts and returns the atlas for ImGui::CreateContext(); nullptr if the context
  // makes its own atlas.
  [[nodiscard]] ImFontAtlas* atlas();
  // Gives the fonts to `ui` if LoadFonts() would make the same fonts for it. Returns whether it
  // gave them. It gives them only once; later fonts are made anew in the same atlas.
  [[nodiscard]] bool Give(Ui& ui, std::string_view extra, Glyphs which);

 private:
  ImFontAtlas atlas_;
  Ui made_;
  bool given_ = false;
  std::jthread thread_;  // last: it writes the other members until it is joined
};

}  // namespace penstock::gui
