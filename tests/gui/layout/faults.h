// SPDX-License-Identifier: Apache-2.0
//
// Finds faults in the texts of a frame: cut off, drawn over, too faint, in the other language.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gui/model/words/texts.h"
#include "tests/gui/layout/scene.h"

namespace penstock::gui::testing {

inline constexpr std::string_view kEllipsis = "…";

enum class FaultKind : std::uint8_t { kClipped, kOverlap, kFaint, kUntranslated, kUnexplained };
[[nodiscard]] std::string_view NameOf(FaultKind kind);

struct Fault {
  FaultKind kind;
  std::string text;
  std::string detail;
  Box where;
};

struct Looked {
  float scale = 1;  // pixels per logical pixel
  Language language = Language::kEnglish;
  std::vector<std::string> names = {};  // names in the trace, which are not translated
  const ImFont* code = nullptr;         // the font of code and commands
  const ImFont* bold = nullptr;         // characters of this font are large from 18.66 pixels on
};

// Texts that are cut off, partly or wholly, although no scrolling shows the rest.
[[nodiscard]] std::vector<Fault> Clipped(const Scene& scene);
// Characters that lie over characters of another text of the same window.
[[nodiscard]] std::vector<Fault> Overlapping(const Scene& scene, const Looked& how);
// Characters whose contrast with their background is below WCAG's level AA: 4.5, or 3 for large
// characters (24 pixels, bold 18.66) and for disabled ones. Source: WCAG 2.1, 1.4.3.
[[nodiscard]] std::vector<Fault> Faint(const Scene& scene, const Looked& how);
// English words in a Chinese window, and Chinese words in an English window.
[[nodiscard]] std::vector<Fault> Untranslated(const Scene& scene, const Looked& how);

// Texts that end with an ellipsis. A shortened path is left out: its beginning is cut off, because
// its end tells it apart from other paths.
[[nodiscard]] std::vector<SeenText> Shortened(const Scene& scene);
// The texts of tips and cards over the window, without spaces.
[[nodiscard]] std::string TextOver(const Scene& scene, const SeenText& shortened);
// Whether a tip or card over the window shows the whole text that `shortened` begins.
[[nodiscard]] bool Explained(const Scene& scene, const SeenText& shortened);

// The English words of `text` that should be Chinese; "": none. Names, paths, code, units, keys and
// words that stay English in Chinese texts do not count.
[[nodiscard]] std::string EnglishIn(std::string_view text, const std::vector<std::string>& names);

}  // namespace penstock::gui::testing
