// SPDX-License-Identifier: Apache-2.0
//
// What every view draws with: fonts, colours, language and scale. One Ui belongs to one ImGui
// context; all of widgets/ and views/ run on the thread that owns the context.
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>

#include "gui/model/palette.h"
#include "gui/model/words/texts.h"
#include "gui/widgets/imgui_versions.h"

namespace penstock::gui {

struct Ui {
  Theme theme = Theme::kDark;
  Language language = Language::kEnglish;
  float scale = 1;  // pixels per logical pixel
  ImFont* body = nullptr;
  ImFont* small = nullptr;
  ImFont* strong = nullptr;  // body, bold
  ImFont* title = nullptr;   // sentences of weight
  ImFont* big = nullptr;     // figures
  ImFont* mono = nullptr;

  [[nodiscard]] float Px(float logical) const { return logical * scale; }
  [[nodiscard]] const Palette& palette() const { return PaletteOf(theme); }
  // Null-terminated.
  [[nodiscard]] const char* T(Text text) const { return TextOf(text, language).data(); }
  template <class... Values>
  [[nodiscard]] std::string F(Text text, const Values&... values) const {
    return Filled(text, language, values...);
  }
  [[nodiscard]] ImU32 Stage(traces::StageId stage, double alpha = 1) const;
};

[[nodiscard]] ImU32 Ink(Rgb colour, double alpha = 1);
[[nodiscard]] ImVec4 Tint(Rgb colour, double alpha = 1);

// The style of ImGui's own widgets. Call when theme or scale change.
void ApplyTheme(const Ui& ui);

// Makes the fonts of `ui` at its scale from what the system has; never fails: in the worst case
// the built-in font serves. `extra` are texts of a trace whose characters are needed too.
// Requires: an ImGui context, no frame begun. The renderer's font texture must be remade after it.
// Cost: some 20 us a glyph and size; kCommon takes 2,500 Chinese characters more.
enum class Glyphs : bool { kNeeded, kCommon };
void LoadFonts(Ui& ui, std::string_view extra, Glyphs which);
// The same into any atlas; needs no context.
void FillAtlas(ImFontAtlas& atlas, Ui& ui, std::string_view extra, Glyphs which);
// Whether the system has a font with Chinese characters: without one they are question marks.
[[nodiscard]] bool HasChineseFont();
// ASCII alone: it needs no glyphs of its own.
[[nodiscard]] bool IsPlain(std::string_view text);

}  // namespace penstock::gui
