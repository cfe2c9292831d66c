// SPDX-License-Identifier: Apache-2.0
//
// The calls that differ between the versions 1.86 to 1.92 of Dear ImGui. The numbers of keys differ
// too: keys.h handles them. Nothing else in the tree depends on the version.
#pragma once

#include <imgui.h>

#include <string_view>

namespace penstock::gui {

// From version 1.92 on, the renderer can make characters when they are first drawn.
inline constexpr bool kDynamicFonts = IMGUI_VERSION_NUM >= 19200;

// The size in pixels at which the font was loaded.
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

// The colour of the frame around the item that the keyboard has chosen.
#if IMGUI_VERSION_NUM >= 19140
inline constexpr int kKeyboardFrame = ImGuiCol_NavCursor;
#else
inline constexpr int kKeyboardFrame = ImGuiCol_NavHighlight;
#endif
// Begins a child window. The frame that the keyboard moves can pass from the parent window into it.
inline void BeginFlatChild(const char* id, ImVec2 size, ImGuiWindowFlags flags) {
#if IMGUI_VERSION_NUM >= 19090
  ImGui::BeginChild(id, size, ImGuiChildFlags_NavFlattened, flags);
#else
  ImGui::BeginChild(id, size, false, flags | ImGuiWindowFlags_NavFlattened);
#endif
}

// Colours the parts that 1.86 draws in the text colour.
void ColourLikeText(ImGuiStyle& style);

// Makes a window or group include the place where the cursor was set. Call it before the window or
// group ends. Versions up to 1.88 included that place at once; 1.92 complains unless an item
// follows.
void GrowToCursor();

// Draws characters with FreeType, fitted to whole pixels in height only.
void UseFreeType(ImFontAtlas& atlas);
// Makes the characters of `atlas` if the renderer does not make them itself.
void BuildAtlas(ImFontAtlas& atlas);
// Uploads the fonts to OpenGL after LoadFonts(). Requires: a context in which OpenGL's backend
// runs.
void RemakeFontTexture();
// For a context without a renderer: does with the fonts what a renderer would do. Call it before
// and after each frame.
void PretendToRender();

}  // namespace penstock::gui
