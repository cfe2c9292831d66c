// SPDX-License-Identifier: Apache-2.0
//
// How a camera was held: the orientation in a JPEG file's EXIF segment, and what it means for
// coordinates and pixels. Pure functions and values, thread-safe, no allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "loader/decode/image.h"

namespace penstock::loader {

// EXIF tag 0x0112 of the first Exif segment before the picture's data: 1 to 8. 1 if there is none
// or it is invalid. Passes over stray bytes between segments, as libjpeg does.
[[nodiscard]] int ExifOrientation(std::span<const std::byte> file);

// Maps the picture as seen to the picture as stored. First `transpose` exchanges x and y. Then a
// flip counts the stored columns or rows from the other end.
struct Orientation {
  bool transpose = false;
  bool flip_columns = false;
  bool flip_rows = false;

  // Requires: 1 <= exif <= 8.
  [[nodiscard]] static Orientation Of(int exif);

  [[nodiscard]] Size Seen(Size stored) const;
  // Map regions in both directions. Regions may reach outside the picture.
  [[nodiscard]] Region ToStored(const Region& seen, Size stored) const;
  [[nodiscard]] Region ToSeen(const Region& stored_region, Size stored) const;
};

// Reverses the order of `width` pixels of three bytes.
void ReverseRow(std::uint8_t* row, int width);

// Shapes: from: [height][width][3]; to: [width][height][3], to_stride bytes a row.
void Transpose(const ImageView& from, std::uint8_t* to, std::ptrdiff_t to_stride);

}  // namespace penstock::loader
