// SPDX-License-Identifier: Apache-2.0
//
// Dear ImGui from 1.86 to 1.92: what a version calls differently. keys.h has what they count
// differently; nothing else in the tree asks for the version.
#pragma once

#include <imgui.h>

#include <string_view>

namespace penstock::gui {

// Since 1.92 a renderer that can do so makes characters when they are first drawn.
inline constexpr bool kDynamicFonts = IMGUI_VERSION_NUM >= 19200;

// The height of a line in pixels, as the font was loaded.
[[nodiscard]] inline float FontPixels(const ImFont* font) {
#if IMGUI_VERSION_NUM >= 19200
  return font->LegacySize;
#else
  return font->FontSize;
#endif
}

// Bits of ImGuiSelectableFlags.
#if IMGUI_VERSION_NUM >= 19100
inline constexpr int kStaysOpen = ImGuiSelectableFlags_NoAutoClosePopups;
#else
inline constexpr int kStaysOpen = ImGuiSelectableFlags_DontClosePopups;
#endif
#if IMGUI_VERSION_NUM >= 18970
inline constexpr int kMayBeCovered = ImGuiSelectableFlags_AllowOverlap;
#else
inline constexpr int kMayBeCovered = ImGuiSelectableFlags_AllowItemOverlap;
#endif

// The colour of the frame around what the keyboard has chosen.
#if IMGUI_VERSION_NUM >= 19140
inline constexpr int kKeyboardFrame = ImGuiCol_NavCursor;
#else
inline constexpr int kKeyboardFrame = ImGuiCol_NavHighlight;
#endif
// Those that 1.86 draws with the colour of the text.
void ColourLikeText(ImGuiStyle& style);

// Before the end of a window or group: what the cursor was set to counts as part of it. Until 1.88
// it did so at once; 1.92 refuses.
void GrowToCursor();

// Characters are drawn by FreeType, fitted to whole pixels in height alone.
void UseFreeType(ImFontAtlas& atlas);
// Makes the characters of `atlas` where the renderer does not do so itself.
void BuildAtlas(ImFontAtlas& atlas);
// Takes them over into OpenGL after LoadFonts(). Requires: a context, OpenGL's backend begun.
void RemakeFontTexture();
// For a context without a renderer, before each frame and after it: takes what one would take.
void PretendToRender();

}  // namespace penstock::gui
