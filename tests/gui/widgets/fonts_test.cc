// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <imgui.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "gui/widgets/imgui_versions.h"
#include "gui/widgets/ui.h"
#include "tests/paths.h"

namespace penstock::gui {
namespace {

// The Chinese characters of the sources in `folder`.
std::set<unsigned> ChineseIn(const std::filesystem::path& folder) {
  std::set<unsigned> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".h") continue;
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (std::size_t i = 0; i + 2 < text.size(); ++i) {
      const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
      if ((byte(i) & 0xf0U) != 0xe0U) continue;
      const unsigned character =
          (byte(i) & 0x0fU) << 12U | (byte(i + 1) & 0x3fU) << 6U | (byte(i + 2) & 0x3fU);
      if (character >= 0x2e80) found.insert(character);
    }
  }
  return found;
}

#if IMGUI_VERSION_NUM < 19200
// "匿名内存" was shown as "?名内存": the fonts had the window's own texts and ImGui's common
// characters, not the texts about the trace.
TEST(FontsTest, EveryCharacterOfAReportHasAGlyph) {
  if (!HasChineseFont()) GTEST_SKIP() << "no font with Chinese characters";
  const std::set<unsigned> all =
      ChineseIn(std::filesystem::path(paths::kSourceFolder) / "analyzer/words");
  ASSERT_GT(all.size(), 500U);
  ImFontAtlas atlas;
  Ui ui;
  ui.language = Language::kChinese;
  FillAtlas(atlas, ui, "", Glyphs::kCommon);
  ASSERT_TRUE(atlas.Build());
  for (const unsigned character : all) {
    for (const ImFont* font : {ui.body, ui.small, ui.title, ui.strong, ui.mono}) {
      EXPECT_NE(font->FindGlyphNoFallback(static_cast<ImWchar>(character)), nullptr)
          << std::hex << "U+" << character;
    }
  }
}
#endif

}  // namespace
}  // namespace penstock::gui
