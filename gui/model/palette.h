// SPDX-License-Identifier: Apache-2.0
//
// Colours. A stage has the same colour in the timeline, the tables and the HTML report; the two
// themes differ in lightness only. Values; pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "gui/model/timeline/colour_number.h"
#include "traces/event.h"

namespace penstock::gui {

struct Rgb {
  std::uint8_t r = 0;
  std::uint8_t g = 0;
  std::uint8_t b = 0;
  constexpr bool operator==(const Rgb&) const = default;
};

enum class Theme : std::uint8_t { kDark, kLight };

// The colours of the window's parts.
struct Palette {
  Rgb background;  // behind everything
  Rgb panel;       // cards
  Rgb raised;      // buttons, fields and table heads on cards
  Rgb line;
  Rgb text;
  Rgb dim;     // less important text; contrast at least 4.5:1 on a panel
  Rgb accent;  // things that can be pressed or are selected
  Rgb good;
  Rgb warn;
  Rgb bad;
};

[[nodiscard]] const Palette& PaletteOf(Theme theme);
[[nodiscard]] Rgb StageColour(traces::StageId stage, Theme theme);

// The colour of something that has a name but no stage, such as an operator in a recording of
// another tool. It is one of twelve colours. A name has the same colour in every run.
[[nodiscard]] Rgb NamedColour(std::string_view name, Theme theme);
// The same by the number of the colour: ColourOfName().
[[nodiscard]] Rgb NamedColour(std::uint8_t number, Theme theme);
// The colour of spans: of their names if `number` is below kNamedColours, else of their stage.
[[nodiscard]] Rgb SpanColour(traces::StageId stage, std::uint8_t number, Theme theme);

// The colour of a slider's grab. The slider's value is written across the grab in Palette::text,
// with a contrast of at least 4.5:1.
[[nodiscard]] Rgb GrabColour(Theme theme, bool held);

// How much of a line's colour the shade around it has, between the lowest and the highest value.
inline constexpr double kBandShare = 0.45;
// The colour of the curve of memory that all programs share, beside those of processes.
inline constexpr traces::StageId kSharedMemory = traces::StageId::kPin;

// `a` mixed with a share of `b`. Units: share in [0, 1].
[[nodiscard]] Rgb Mix(Rgb a, Rgb b, double share);
// Black or white, whichever is easier to read on `ground`.
[[nodiscard]] Rgb InkOn(Rgb ground);

// The contrast of two colours, from 1 to 21. Source: WCAG 2.1, relative luminance.
[[nodiscard]] double Contrast(Rgb a, Rgb b);
// The distance of two colours for a person with deuteranopia: Euclidean in CIELAB. Source: Vienot,
// Brettel and Mollon 1999, the matrix for linear RGB.
[[nodiscard]] double DistanceForDeuteranope(Rgb a, Rgb b);

}  // namespace penstock::gui
