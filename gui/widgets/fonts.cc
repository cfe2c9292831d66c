// SPDX-License-Identifier: Apache-2.0
#include <imgui_freetype.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <string>

#include "gui/widgets/ui.h"

namespace penstock::gui {
namespace {

// The first that exists is taken.
constexpr std::array kRegular = {
    "/usr/share/fonts/truetype/noto/NotoSans-Regular.ttf",
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
    "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
    "/usr/share/fonts/TTF/DejaVuSans.ttf",
    "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf",
};
constexpr std::array kBold = {
    "/usr/share/fonts/truetype/noto/NotoSans-Bold.ttf",
    "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf",
    "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans-Bold.ttf",
    "/usr/share/fonts/TTF/DejaVuSans-Bold.ttf",
    "/usr/share/fonts/truetype/liberation/LiberationSans-Bold.ttf",
};
constexpr std::array kMono = {
    "/usr/share/fonts/truetype/noto/NotoSansMono-Regular.ttf",
    "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf",
    "/usr/share/fonts/dejavu-sans-mono-fonts/DejaVuSansMono.ttf",
    "/usr/share/fonts/TTF/DejaVuSansMono.ttf",
    "/usr/share/fonts/truetype/liberation/LiberationMono-Regular.ttf",
};
constexpr std::array kChinese = {
    "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/google-noto-cjk/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/noto-cjk/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc",
    "/usr/share/fonts/truetype/wqy/wqy-zenhei.ttc",
    "/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf",
    "/usr/share/fonts/truetype/arphic/uming.ttc",
};

template <std::size_t N>
const char* FirstOf(const std::array<const char*, N>& paths) {
  for (const char* path : paths) {
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error)) return path;
  }
  return nullptr;
}

struct Glyphs {
  ImVector<ImWchar> latin;
  ImVector<ImWchar> chinese;
};

// What the window says in either language, what the trace says, and what is said about it.
Glyphs CollectGlyphs(std::string_view extra, bool common) {
  ImFontGlyphRangesBuilder builder;
  ImGuiIO& io = ImGui::GetIO();
  builder.AddRanges(io.Fonts->GetGlyphRangesDefault());
  for (int t = 0; t < static_cast<int>(Text::kTextCount); ++t) {
    const std::string_view text = TextOf(static_cast<Text>(t), Language::kChinese);
    builder.AddText(text.data(), text.data() + text.size());
  }
  builder.AddText(extra.data(), extra.data() + extra.size());
  builder.AddText("→←↑↓◂▸×÷·–—…≤≥±µ");
  Glyphs glyphs;
  builder.BuildRanges(&glyphs.latin);
  if (common) builder.AddRanges(io.Fonts->GetGlyphRangesChineseSimplifiedCommon());
  builder.BuildRanges(&glyphs.chinese);
  return glyphs;
}

}  // namespace

void LoadFonts(Ui& ui, std::string_view extra) {
  ImGuiIO& io = ImGui::GetIO();
  io.Fonts->Clear();
  io.Fonts->FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
  io.Fonts->FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
  // Ranges must outlive the build.
  static Glyphs glyphs;
  glyphs = CollectGlyphs(extra, ui.language == Language::kChinese);
  const char* regular = FirstOf(kRegular);
  const char* bold = FirstOf(kBold);
  const char* mono = FirstOf(kMono);
  const char* chinese = FirstOf(kChinese);
  const auto add = [&](const char* path, float size) {
    ImFontConfig config;
    config.OversampleH = 1;
    const float pixels = std::round(size * ui.scale);
    if (path == nullptr) {
      config.SizePixels = pixels;
      return io.Fonts->AddFontDefault(&config);
    }
    ImFont* font = io.Fonts->AddFontFromFileTTF(path, pixels, &config, glyphs.latin.Data);
    if (chinese != nullptr) {
      config.MergeMode = true;
      // Ideographs fill less of their square than Latin letters do.
      io.Fonts->AddFontFromFileTTF(chinese, std::round(1.1F * pixels), &config,
                                   glyphs.chinese.Data);
    }
    return font;
  };
  ui.body = add(regular, 14.5F);
  ui.small = add(regular, 12.5F);
  ui.strong = add(bold, 14.5F);
  ui.title = add(regular, 19);
  ui.big = add(bold, 26);
  ui.mono = add(mono, 13.5F);
  io.FontDefault = ui.body;
  io.Fonts->Build();
}

}  // namespace penstock::gui
