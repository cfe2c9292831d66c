// SPDX-License-Identifier: Apache-2.0
//
// What every view draws with: fonts, colours, language and scale. One Ui belongs to one ImGui
// context. All of widgets/ and views/ run on the thread that owns that context.
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
  ImFont* strong = nullptr;  // as body, bold
  ImFont* title = nullptr;   // important sentences
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

// Sets the style of ImGui's own widgets. Call it when theme or scale change.
void ApplyTheme(const Ui& ui);

// Makes the fonts of `ui` at its scale from fonts of the system. It never fails: without a font of
// the system it uses ImGui's built-in font. `extra`: texts of a trace whose characters are needed
// too. The renderer's font texture must be remade afterwards.
// Requires: an ImGui context, and no frame begun.
// Cost:     some 20 us per glyph and size; kCommon adds 2,500 Chinese characters.
enum class Glyphs : bool { kNeeded, kCommon };
void LoadFonts(Ui& ui, std::string_view extra, Glyphs which);
// Does the same in any atlas, without a context.
void FillAtlas(ImFontAtlas& atlas, Ui& ui, std::string_view extra, Glyphs which);
// Whether the system has a font with Chinese characters. Without one they appear as question marks.
[[nodiscard]] bool HasChineseFont();
// Whether the text is ASCII only, so that it needs no further glyphs.
[[nodiscard]] bool IsPlain(std::string_view text);

}  // namespace penstock::gui
