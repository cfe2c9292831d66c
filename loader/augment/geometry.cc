// SPDX-License-Identifier: Apache-2.0
//
// Operations that move or cover pixels. Memory accesses and address computations limit their speed,
// not arithmetic.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "loader/augment/pixel_ops.h"

namespace penstock::loader {
namespace {

// A coordinate as an integer with 32 bits after the point, so each step is exact to 2^-32 of a
// pixel.
std::int64_t Fixed(double value) {
  return std::llround(value * 0x1p32);
}

void RotateNearest(const Picture& from, const Picture& to, double cosine, double sine) {
  const std::int64_t step_x = Fixed(cosine);
  const std::int64_t step_y = Fixed(sine);
  const auto width = static_cast<std::uint64_t>(from.width);
  const auto height = static_cast<std::uint64_t>(from.height);
  std::uint8_t* out = to.pixels;
  for (int y = 0; y < to.height; ++y) {
    const double dx = 0.5 - to.width / 2.0;
    const double dy = y + 0.5 - to.height / 2.0;
    std::int64_t at_x = Fixed(dx * cosine - dy * sine + from.width / 2.0);
    std::int64_t at_y = Fixed(dx * sine + dy * cosine + from.height / 2.0);
    for (int x = 0; x < to.width; ++x, out += 3, at_x += step_x, at_y += step_y) {
      const auto source_x = static_cast<std::uint64_t>(at_x >> 32);  // very large if negative
      const auto source_y = static_cast<std::uint64_t>(at_y >> 32);
      if (source_x < width && source_y < height) {
        const std::uint8_t* pixel = from.pixels + 3 * (source_y * width + source_x);
        out[0] = pixel[0];
        out[1] = pixel[1];
        out[2] = pixel[2];
      } else {
        out[0] = out[1] = out[2] = 0;
      }
    }
  }
}

void RotateBilinear(const Picture& from, const Picture& to, double cosine, double sine) {
  const std::int64_t step_x = Fixed(cosine);
  const std::int64_t step_y = Fixed(sine);
  const auto stride = 3 * static_cast<std::ptrdiff_t>(from.width);
  static constexpr std::uint8_t kOutside[3] = {0, 0, 0};
  const auto pixel = [&](std::int64_t x, std::int64_t y) {
    const bool inside = x >= 0 && y >= 0 && x < from.width && y < from.height;
    return inside ? from.pixels + y * stride + 3 * x : kOutside;
  };
  const auto fraction = [](std::int64_t at) {
    return static_cast<float>(static_cast<std::uint32_t>(at) >> 8) * 0x1p-24F;
  };
  std::uint8_t* out = to.pixels;
  for (int y = 0; y < to.height; ++y) {
    const double dx = 0.5 - to.width / 2.0;
    const double dy = y + 0.5 - to.height / 2.0;
    std::int64_t at_x = Fixed(dx * cosine - dy * sine + from.width / 2.0 - 0.5);
    std::int64_t at_y = Fixed(dx * sine + dy * cosine + from.height / 2.0 - 0.5);
    for (int x = 0; x < to.width; ++x, out += 3, at_x += step_x, at_y += step_y) {
      const std::int64_t left = at_x >> 32;
      const std::int64_t top = at_y >> 32;
      const std::uint8_t* corners[4];
      if (left >= 0 && top >= 0 && left < from.width - 1 && top < from.height - 1) {
        corners[0] = from.pixels + top * stride + 3 * left;
        corners[1] = corners[0] + 3;
        corners[2] = corners[0] + stride;
        corners[3] = corners[2] + 3;
      } else {
        corners[0] = pixel(left, top);
        corners[1] = pixel(left + 1, top);
        corners[2] = pixel(left, top + 1);
        corners[3] = pixel(left + 1, top + 1);
      }
      const float right = fraction(at_x);
      const float below = fraction(at_y);
      for (int c = 0; c < 3; ++c) {
        const float upper =
            corners[0][c] + right * static_cast<float>(corners[1][c] - corners[0][c]);
        const float lower =
            corners[2][c] + right * static_cast<float>(corners[3][c] - corners[2][c]);
        out[c] = static_cast<std::uint8_t>(std::lrintf(upper + below * (lower - upper)));
      }
    }
  }
}

// A float as IEEE binary16, with halves rounded to even.
std::uint16_t Half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  const auto sign = static_cast<std::uint16_t>((bits ^ magnitude) >> 16);
  std::uint32_t half = 0x7C00;
  if (magnitude < 0x38800000) {
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3F000000;
  } else if (magnitude < 0x47800000) {
    half = (magnitude + 0xC8000FFF + (magnitude >> 13 & 1)) >> 13;
  }
  return static_cast<std::uint16_t>(half | sign);
}

// Fills pixels [begin, end) of row y: one range of elements, or with Layout::kChw one range in each
// of the three planes.
template <class T>
void FillRow(std::byte* data, const OutputFormat& format, int y, int begin, int end, T value) {
  const auto width = static_cast<std::size_t>(format.width);
  const std::size_t pixel = static_cast<std::size_t>(y) * width + static_cast<std::size_t>(begin);
  const auto count = static_cast<std::size_t>(end - begin);
  T* elements = reinterpret_cast<T*>(data);
  if (format.layout == Layout::kHwc) {
    std::fill_n(elements + 3 * pixel, 3 * count, value);
    return;
  }
  const std::size_t plane = width * static_cast<std::size_t>(format.height);
  for (std::size_t c = 0; c < 3; ++c) std::fill_n(elements + c * plane + pixel, count, value);
}

void Fill(std::byte* data, const OutputFormat& format, int y, int begin, int end, double value) {
  switch (format.type) {
    case ElementType::kU8:
      FillRow(data, format, y, begin, end,
              static_cast<std::uint8_t>(std::nearbyint(std::clamp(value, 0.0, 255.0))));
      break;
    case ElementType::kF16:
      FillRow(data, format, y, begin, end, Half(static_cast<float>(value)));
      break;
    case ElementType::kF32:
      FillRow(data, format, y, begin, end, static_cast<float>(value));
      break;
  }
}

bool InSquare(double u, const Grid& grid) {
  const double tiles = u / grid.tile;
  return tiles - std::floor(tiles) < grid.fraction;
}

}  // namespace

void Rotate(Picture from, Picture to, double radians, Filter filter) {
  const auto rotate = filter == Filter::kNearest ? RotateNearest : RotateBilinear;
  rotate(from, to, std::cos(radians), std::sin(radians));
}

void PadTo(const ImageView& from, int left, int top, Picture to) {
  const int begin = std::clamp(-left, 0, to.width);
  const int end = std::clamp(from.width - left, begin, to.width);
  const auto bytes = 3 * static_cast<std::size_t>(to.width);
  for (int y = 0; y < to.height; ++y) {
    std::uint8_t* out = to.pixels + bytes * static_cast<std::size_t>(y);
    const int row = top + y;
    const bool inside = row >= 0 && row < from.height && begin < end;
    if (!inside) {
      std::memset(out, 0, bytes);
      continue;
    }
    const std::uint8_t* source = from.pixels + row * from.stride + 3 * std::ptrdiff_t{left + begin};
    std::memset(out, 0, 3 * static_cast<std::size_t>(begin));
    std::memcpy(out + 3 * begin, source, 3 * static_cast<std::size_t>(end - begin));
    std::memset(out + 3 * end, 0, 3 * static_cast<std::size_t>(to.width - end));
  }
}

void Erase(std::byte* data, const OutputFormat& format, Region region, double value) {
  for (int y = region.y; y < region.y + region.height; ++y) {
    Fill(data, format, y, region.x, region.x + region.width, value);
  }
}

void MaskGrid(std::byte* data, const OutputFormat& format, const Grid& grid,
              Buffer<std::uint8_t>& columns) {
  const double cosine = std::cos(grid.angle);
  const double sine = std::sin(grid.angle);
  const int width = format.width;
  const bool upright = grid.angle == 0;  // then the same columns are masked in all masked rows
  std::uint8_t* masked = columns.Reserve(static_cast<std::size_t>(width));
  bool known = false;  // `masked` holds for all rows that follow
  for (int y = 0; y < format.height; ++y) {
    const double v0 = (y + 0.5) * cosine + grid.shift_v;
    const double u0 = (y + 0.5) * sine + grid.shift_u;
    if (upright && !InSquare(v0, grid)) continue;
    if (!known) {
      for (int x = 0; x < width; ++x) {
        const double u = (x + 0.5) * cosine + u0;
        const double v = v0 - (x + 0.5) * sine;
        masked[x] = InSquare(u, grid) && InSquare(v, grid) ? 1 : 0;
      }
      known = upright;
    }
    for (int x = 0; x < width;) {
      if (masked[x] == 0) {
        ++x;
        continue;
      }
      const int begin = x;
      while (x < width && masked[x] != 0) ++x;
      Fill(data, format, y, begin, x, 0);
    }
  }
}

}  // namespace penstock::loader
