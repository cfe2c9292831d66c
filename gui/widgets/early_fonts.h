// SPDX-License-Identifier: Apache-2.0
//
// The fonts of the first frames, made on a thread while a window or a picture is opened: both take
// some 25 ms. Lives longer than the ImGui context that uses its atlas. Where characters are made
// when they are drawn (kDynamicFonts) there is nothing to make, and the context has an atlas of its
// own.
#pragma once

#include <imgui.h>

#include <string_view>
#include <thread>

#include "gui/widgets/ui.h"

namespace penstock::gui {

class EarlyFonts {
 public:
  // Begins. Requires: no ImGui context, and none is made before atlas().
  EarlyFonts(float scale, Language language);
  ~EarlyFonts() = default;
  EarlyFonts(const EarlyFonts&) = delete;
  EarlyFonts& operator=(const EarlyFonts&) = delete;

  // Waits until they are made; null if the context is to have its own. For ImGui::CreateContext().
  [[nodiscard]] ImFontAtlas* atlas();
  // Whether they are what LoadFonts() would make for `ui`; then `ui` has them. They are given once:
  // what comes later is made anew, in the same atlas.
  [[nodiscard]] bool Give(Ui& ui, std::string_view extra, Glyphs which);

 private:
  ImFontAtlas atlas_;
  Ui made_;
  bool given_ = false;
  std::jthread thread_;  // last: it writes the rest until it is joined
};

}  // namespace penstock::gui
