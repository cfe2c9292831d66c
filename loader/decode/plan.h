// SPDX-License-Identifier: Apache-2.0
//
// Decides which part of a JPEG must be decoded so that the pixels of a region are those of the
// whole picture. Pure functions without libjpeg, thread-safe.
#pragma once

#include "loader/decode/image.h"

namespace penstock::loader {

// The largest of 1, 2, 4 and 8 that leaves at least `quality` times the pixels wanted along both
// sides of the region; 1 if quality < 1 or target is {}.
[[nodiscard]] int ChooseDenominator(double quality, const Region& region, Size target);

// The pixels of the picture at 1/denominator that show `region` of it.
// Requires: region inside the full picture.
[[nodiscard]] Region Reduced(const Region& region, int denominator);
// The full-size pixels that `reduced` shows; can end outside the picture.
[[nodiscard]] Region Expanded(const Region& reduced, int denominator);

// The columns to ask jpeg_crop_scanline() for.
struct ColumnRange {
  int first = 0;
  int width = 0;
};

// Adds one column on each side. Interpolated chroma depends on both neighbours, and libjpeg would
// take the edge of the range for the edge of the picture. Returns all columns if the range leaves
// out no whole column of MCUs, since nothing less saves time.
//
// Units: output pixels (reduced ones); mcu_width: of an interleaved MCU, >= 1.
[[nodiscard]] ColumnRange ColumnsFor(const Region& region, int image_width, int mcu_width);

}  // namespace penstock::loader
