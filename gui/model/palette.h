// SPDX-License-Identifier: Apache-2.0
//
// Colours. A stage has one colour, the same in the timeline, the tables and the HTML report; the
// two themes differ in lightness only. Values; pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "traces/event.h"

namespace penstock::gui {

struct Rgb {
  std::uint8_t r = 0;
  std::uint8_t g = 0;
  std::uint8_t b = 0;
  constexpr bool operator==(const Rgb&) const = default;
};

enum class Theme : std::uint8_t { kDark, kLight };

// What the window is made of.
struct Palette {
  Rgb background;  // behind everything
  Rgb panel;       // cards
  Rgb raised;      // what lies on cards: buttons, fields, heads of tables
  Rgb line;
  Rgb text;
  Rgb dim;     // text of less weight, at least 4.5:1 on a panel
  Rgb accent;  // what can be pressed, what is selected
  Rgb good;
  Rgb warn;
  Rgb bad;
};

[[nodiscard]] const Palette& PaletteOf(Theme theme);
[[nodiscard]] Rgb StageColour(traces::StageId stage, Theme theme);

// The colour of what has a name and no stage, such as an operator of another tool's recording: one
// of twelve, the same for the same name in every run.
[[nodiscard]] Rgb NamedColour(std::string_view name, Theme theme);

// Of a slider's grab: its value is written across it in Palette::text, at least 4.5:1.
[[nodiscard]] Rgb GrabColour(Theme theme, bool held);

// `a` with `share` of it replaced by `b`. Units: share in [0, 1].
[[nodiscard]] Rgb Mix(Rgb a, Rgb b, double share);
// Black or white: what can be read on `ground`.
[[nodiscard]] Rgb InkOn(Rgb ground);

// Contrast of two colours, 1 to 21. Source: WCAG 2.1, relative luminance.
[[nodiscard]] double Contrast(Rgb a, Rgb b);
// How far apart two colours are for a person with deuteranopia: Euclidean distance in CIELAB.
// Source: Vienot, Brettel and Mollon 1999, the matrix for linear RGB.
[[nodiscard]] double DistanceForDeuteranope(Rgb a, Rgb b);

}  // namespace penstock::gui
