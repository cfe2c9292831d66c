// SPDX-License-Identifier: Apache-2.0
#include "gui/widgets/early_fonts.h"

namespace penstock::gui {

EarlyFonts::EarlyFonts(float scale, Language language) {
  if (kDynamicFonts) return;
  made_.scale = scale;
  made_.language = language;
  thread_ = std::jthread([this] {
    FillAtlas(atlas_, made_, "", Glyphs::kNeeded);
    BuildAtlas(atlas_);
  });
}

ImFontAtlas* EarlyFonts::atlas() {
  if (kDynamicFonts) return nullptr;
  if (thread_.joinable()) thread_.join();
  return &atlas_;
}

bool EarlyFonts::Give(Ui& ui, std::string_view extra, Glyphs which) {
  const bool plain = which == Glyphs::kNeeded && IsPlain(extra);
  if (kDynamicFonts || given_ || !plain || ui.scale != made_.scale || ui.language != made_.language)
    return false;
  given_ = true;
  ui.body = made_.body;
  ui.small = made_.small;
  ui.strong = made_.strong;
  ui.title = made_.title;
  ui.big = made_.big;
  ui.mono = made_.mono;
  ImGui::GetIO().FontDefault = ui.body;
  return true;
}

}  // namespace penstock::gui
