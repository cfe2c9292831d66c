// SPDX-License-Identifier: Apache-2.0
#include "gui/widgets/imgui_versions.h"

#include <backends/imgui_impl_opengl3.h>
#include <imgui_freetype.h>
#include <imgui_internal.h>

namespace penstock::gui {

void ColourLikeText(ImGuiStyle& style) {
#if IMGUI_VERSION_NUM >= 19200
  style.Colors[ImGuiCol_InputTextCursor] = style.Colors[ImGuiCol_Text];
#else
  static_cast<void>(style);
#endif
}

void GrowToCursor() {
#if IMGUI_VERSION_NUM >= 18900
  if (ImGui::GetCurrentContext()->CurrentWindow->DC.IsSetPos) ImGui::Dummy({0, 0});
#endif
}

void UseFreeType(ImFontAtlas& atlas) {
#if IMGUI_VERSION_NUM >= 19200
  atlas.SetFontLoader(ImGuiFreeType::GetFontLoader());
  atlas.FontLoaderFlags = ImGuiFreeTypeLoaderFlags_LightHinting;
#else
  atlas.FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
  atlas.FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
#endif
}

void BuildAtlas(ImFontAtlas& atlas) {
  if constexpr (!kDynamicFonts) {
    unsigned char* pixels = nullptr;
    int width = 0;
    int height = 0;
    atlas.GetTexDataAsRGBA32(&pixels, &width, &height);  // in the format that the renderer asks for
  }
}

void RemakeFontTexture() {
#if IMGUI_VERSION_NUM < 19200
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  ImGui_ImplOpenGL3_CreateFontsTexture();
#endif
}

void PretendToRender() {
#if IMGUI_VERSION_NUM >= 19200
  ImGui::GetIO().BackendFlags |= ImGuiBackendFlags_RendererHasTextures;
  for (ImTextureData* texture : ImGui::GetPlatformIO().Textures) {
    if (texture->Status == ImTextureStatus_WantDestroy) {
      texture->SetTexID(ImTextureID_Invalid);
      texture->SetStatus(ImTextureStatus_Destroyed);
    } else if (texture->Status != ImTextureStatus_Destroyed) {
      texture->SetTexID(ImTextureID{1});
      texture->SetStatus(ImTextureStatus_OK);
    }
  }
#else
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  BuildAtlas(atlas);
  atlas.SetTexID(reinterpret_cast<ImTextureID>(&atlas));
#endif
}

}  // namespace penstock::gui
