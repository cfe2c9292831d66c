// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with the texts of a frame: cut off, drawn over, too faint, in the other language.
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
  std::vector<std::string> names = {};  // of the trace: they are nobody's to translate
  const ImFont* code = nullptr;         // what is written in it is to be typed
  const ImFont* bold = nullptr;         // large from 18.66 pixels on
};

// Texts that are cut off although no scrolling shows the rest, and those of which nothing is left.
[[nodiscard]] std::vector<Fault> Clipped(const Scene& scene);
// Characters that lie on characters of another text of the same window.
[[nodiscard]] std::vector<Fault> Overlapping(const Scene& scene, const Looked& how);
// Characters whose contrast with what is behind them is below WCAG's level AA: 4.5, or 3 for large
// ones (24 pixels, bold 18.66) and what is disabled. Source: WCAG 2.1, 1.4.3.
[[nodiscard]] std::vector<Fault> Faint(const Scene& scene, const Looked& how);
// English words in a Chinese window, and Chinese ones in an English window.
[[nodiscard]] std::vector<Fault> Untranslated(const Scene& scene, const Looked& how);

// Texts that end in an ellipsis. Paths keep the end that tells them apart, so they are not among
// them.
[[nodiscard]] std::vector<SeenText> Shortened(const Scene& scene);
// What tips and cards over the window say, without spaces.
[[nodiscard]] std::string TextOver(const Scene& scene, const SeenText& shortened);
// Whether a tip or card over the window says what `shortened` says, and more.
[[nodiscard]] bool Explained(const Scene& scene, const SeenText& shortened);

// The English words of `text` that ought to be Chinese, "" for none: all but names, paths, code,
// units, keys and words that the Chinese texts keep.
[[nodiscard]] std::string EnglishIn(std::string_view text, const std::vector<std::string>& names);

}  // namespace penstock::gui::testing
