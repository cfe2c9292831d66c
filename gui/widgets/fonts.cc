// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>

#include "gui/widgets/ui.h"
#include "traces/base/file.h"

namespace penstock::gui {
namespace {

// The first font that exists is used.
constexpr std::array kRegular = {
    "/usr/share/fonts/truetype/noto/NotoSans-Regular.ttf",
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
    "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
    "/usr/share/fonts/dejavu/DejaVuSans.ttf",
    "/usr/share/fonts/TTF/DejaVuSans.ttf",
    "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf",
};
constexpr std::array kBold = {
    "/usr/share/fonts/truetype/noto/NotoSans-Bold.ttf",
    "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf",
    "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans-Bold.ttf",
    "/usr/share/fonts/dejavu/DejaVuSans-Bold.ttf",
    "/usr/share/fonts/TTF/DejaVuSans-Bold.ttf",
    "/usr/share/fonts/truetype/liberation/LiberationSans-Bold.ttf",
};
constexpr std::array kMono = {
    "/usr/share/fonts/truetype/noto/NotoSansMono-Regular.ttf",
    "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf",
    "/usr/share/fonts/dejavu-sans-mono-fonts/DejaVuSansMono.ttf",
    "/usr/share/fonts/dejavu/DejaVuSansMono.ttf",
    "/usr/share/fonts/TTF/DejaVuSansMono.ttf",
    "/usr/share/fonts/truetype/liberation/LiberationMono-Regular.ttf",
};
constexpr std::array kChinese = {
    "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/google-noto-cjk/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/noto-cjk/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/google-noto-sans-cjk-vf-fonts/NotoSansCJK-VF.ttc",
    "/usr/share/fonts/truetype/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc",
    "/usr/share/fonts/wqy-microhei/wqy-microhei.ttc",
    "/usr/share/fonts/wqy-microhei-fonts/wqy-microhei.ttc",
    "/usr/share/fonts/wenquanyi/wqy-microhei/wqy-microhei.ttc",
    "/usr/share/fonts/wqy-zenhei/wqy-zenhei.ttc",
    "/usr/share/fonts/truetype/wqy/wqy-zenhei.ttc",
    "/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf",
    "/usr/share/fonts/truetype/arphic/uming.ttc",
};

// Most fonts with Chinese characters have no bold face. Then the edges of the regular one are made
// stronger. Wider strokes would run together in headings of this size.
constexpr std::array kChineseBold = {
    "/usr/share/fonts/opentype/noto/NotoSansCJK-Bold.ttc",
    "/usr/share/fonts/google-noto-cjk/NotoSansCJK-Bold.ttc",
    "/usr/share/fonts/noto-cjk/NotoSansCJK-Bold.ttc",
    "/usr/share/fonts/truetype/NotoSansCJK-Bold.ttc",
};

template <std::size_t N>
const char* FirstOf(const std::array<const char*, N>& paths) {
  for (const char* path : paths) {
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error)) return path;
  }
  return nullptr;
}

// Characters of the analyzer's messages that are not among ImGui's common Chinese ones.
constexpr std::string_view kRareInReports = "函匿噪尔嵌帧拟拷擎栈橙涵滞迭频";

// Empty if characters are made when they are drawn.
struct Ranges {
  ImVector<ImWchar> latin;
  ImVector<ImWchar> chinese;
};

// The characters of the window's texts, of the trace, and of the texts about the trace.
Ranges CollectGlyphs(ImFontAtlas& atlas, std::string_view extra, Language language, bool common) {
  if constexpr (kDynamicFonts) return {};
  ImFontGlyphRangesBuilder builder;
  builder.AddRanges(atlas.GetGlyphRangesDefault());
  for (int t = 0; t < static_cast<int>(Text::kTextCount); ++t) {
    const std::string_view text = TextOf(static_cast<Text>(t), language);
    builder.AddText(text.data(), text.data() + text.size());
  }
  builder.AddText("中文");  // the button that switches to Chinese
  builder.AddText(extra.data(), extra.data() + extra.size());
  builder.AddText("→←↑↓◂▸×÷·–—…≤≥±µ−°");
  Ranges glyphs;
  builder.BuildRanges(&glyphs.latin);
  if (common) {
    builder.AddRanges(atlas.GetGlyphRangesChineseSimplifiedCommon());
    builder.AddText(kRareInReports.data(), kRareInReports.data() + kRareInReports.size());
  }
  builder.BuildRanges(&glyphs.chinese);
  return glyphs;
}

// Adds a font from a file. Each file is mapped only once for all sizes, because a font with Chinese
// characters has 20 MB.
ImFont* AddFile(ImFontAtlas& atlas, const char* path, float pixels, ImFontConfig config,
                const ImVector<ImWchar>& ranges) {
  static std::map<std::string, MappedFile> files;
  MappedFile& file = files[path];
  if (file.bytes().empty()) {
    if (auto mapped = MappedFile::Open(path)) file = std::move(*mapped);
  }
  if (file.bytes().empty()) {
    config.MergeMode = false;
    return atlas.AddFontDefault(&config);
  }
  config.FontDataOwnedByAtlas = false;
  return atlas.AddFontFromMemoryTTF(file.writable().data(), static_cast<int>(file.bytes().size()),
                                    pixels, &config, ranges.Data);
}

}  // namespace

bool HasChineseFont() {
  return FirstOf(kChinese) != nullptr;
}

bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

void LoadFonts(Ui& ui, std::string_view extra, Glyphs which) {
  FillAtlas(*ImGui::GetIO().Fonts, ui, extra, which);
  ImGui::GetIO().FontDefault = ui.body;
}

void FillAtlas(ImFontAtlas& atlas, Ui& ui, std::string_view extra, Glyphs which) {
  atlas.Clear();
  UseFreeType(atlas);
  // The ranges must outlive the build.
  static Ranges glyphs;
  glyphs = CollectGlyphs(atlas, extra, ui.language,
                         which == Glyphs::kCommon && ui.language == Language::kChinese);
  const char* regular = FirstOf(kRegular);
  const char* bold = FirstOf(kBold);
  const char* mono = FirstOf(kMono);
  const char* chinese = FirstOf(kChinese);
  const char* chinese_bold = FirstOf(kChineseBold);
  // An English window has one Chinese text, on a button in the body font. The other fonts then get
  // no Chinese characters: to add them would take longer than everything else.
  const bool everywhere = ui.language == Language::kChinese || !IsPlain(extra);
  const auto add = [&](const char* path, float size, bool with_chinese, bool heavy = false) {
    ImFontConfig config;
    config.OversampleH = 1;
    const float pixels = std::round(size * ui.scale);
    if (path == nullptr) {
      config.SizePixels = pixels;
      return atlas.AddFontDefault(&config);
    }
    ImFont* font = AddFile(atlas, path, pixels, config, glyphs.latin);
    if (chinese != nullptr && with_chinese) {
      config.MergeMode = true;
      // Ideographs fill less of their square than Latin letters, so they are drawn larger.
      const bool face = heavy && chinese_bold != nullptr;
      if (heavy && !face) config.RasterizerMultiply = 1.4F;
      AddFile(atlas, face ? chinese_bold : chinese, std::round(1.1F * pixels), config,
              glyphs.chinese);
    }
    return font;
  };
  ui.body = add(regular, 14.5F, true);
  ui.small = add(regular, 12.5F, everywhere);
  ui.strong = add(bold, 14.5F, everywhere, true);
  ui.title = add(regular, 19, everywhere);
  ui.big = add(bold, 26, everywhere, true);
  ui.mono = add(mono, 13.5F, everywhere);
  BuildAtlas(atlas);
}

}  // namespace penstock::gui
