// SPDX-License-Identifier: Apache-2.0
//
// Operations on 8-bit pixels, in place or from one picture to another, with the formulas of op.h.
// They use the CPU's vector unit and own nothing. One thread for each picture.
#pragma once

#include <cstddef>
#include <cstdint>

#include "loader/augment/buffer.h"
#include "loader/augment/op.h"
#include "loader/augment/program.h"

namespace penstock::loader {

// Shapes: pixels: [height][width][3] without gaps, then kPictureSlack bytes that may be
// overwritten.
struct Picture {
  std::uint8_t* pixels = nullptr;
  int width = 0;
  int height = 0;
};
inline constexpr std::size_t kPictureSlack = 64;

void AdjustBrightness(Picture picture, double factor);
void AdjustContrast(Picture picture, double factor);
void AdjustSaturation(Picture picture, double factor);
void AdjustHsv(Picture picture, double hue_shift, double saturation, double value);

struct BlurScratch {
  Buffer<float> row;
  Buffer<float> weights;
  Buffer<const std::uint8_t*> rows;
};

// Requires: kernel is odd; `from` and `to` are two pictures of the same size.
void GaussianBlur(Picture from, Picture to, int kernel, double sigma, BlurScratch& scratch);

// Requires: `from` and `to` are two pictures of the same size.
void Rotate(Picture from, Picture to, double radians, Filter filter);

// Copies the window of `from` that begins at (left, top) and has the size of `to`; zeros outside.
void PadTo(const ImageView& from, int left, int top, Picture to);

// Fills a rectangle of a picture or an output.
void Erase(std::byte* data, const OutputFormat& format, Region region, double value);

// A grid whose squares are set to zero: `shift` along u and v, and the angle in radians.
struct Grid {
  double tile = 1;
  double fraction = 0;
  double shift_u = 0;
  double shift_v = 0;
  double angle = 0;
};
void MaskGrid(std::byte* data, const OutputFormat& format, const Grid& grid,
              Buffer<std::uint8_t>& columns);

}  // namespace penstock::loader
