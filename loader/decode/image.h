// SPDX-License-Identifier: Apache-2.0
//
// Pictures as the loader passes them on: interleaved 8-bit RGB, in memory that others own. Values,
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock::loader {

struct Size {
  int width = 0;
  int height = 0;
  constexpr bool operator==(const Size&) const = default;
};

// A rectangle of pixels; x and y are those of the first one. Where nothing else is said, pixels are
// those at full resolution, in the coordinates of the picture as a person sees it (after the EXIF
// orientation, where that is applied).
struct Region {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
  constexpr bool operator==(const Region&) const = default;
};

// Shapes: pixels: [height][width][3], R G B; row r begins at pixels + r * stride, stride > 0.
struct ImageView {
  const std::uint8_t* pixels = nullptr;
  int width = 0;
  int height = 0;
  std::ptrdiff_t stride = 0;  // bytes
};

// What a file's header says. If the EXIF orientation was asked for, width and height are those
// after it.
struct ImageInfo {
  int width = 0;
  int height = 0;
  bool progressive = false;
  bool grey = false;
  bool cmyk = false;
  int orientation = 1;    // EXIF tag 0x0112, 1 to 8; 1 if it was not asked for
  int subsampling_x = 1;  // 4:4:4 is 1 and 1, 4:2:2 is 2 and 1, 4:2:0 is 2 and 2
  int subsampling_y = 1;
};

}  // namespace penstock::loader
