// SPDX-License-Identifier: Apache-2.0
//
// The operations once more, written plainly in double precision from the formulas of op.h. The
// tests compare the vector code with them. Values, no ownership.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "loader/augment/plan.h"
#include "loader/augment/program.h"

namespace penstock::loader::reference {

// Shapes: [height][width][3].
template <class T>
struct Pixels {
  int width = 0;
  int height = 0;
  std::vector<T> values;

  Pixels() = default;
  Pixels(int its_width, int its_height)
      : width(its_width),
        height(its_height),
        values(3 * static_cast<std::size_t>(its_width) * static_cast<std::size_t>(its_height)) {}
  [[nodiscard]] std::size_t at(int x, int y, int c) const {
    return 3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                static_cast<std::size_t>(x)) +
           static_cast<std::size_t>(c);
  }
  T& operator()(int x, int y, int c) { return values[at(x, y, c)]; }
  T operator()(int x, int y, int c) const { return values[at(x, y, c)]; }
};
using Bytes = Pixels<std::uint8_t>;
using Reals = Pixels<double>;

// A picture with smooth shapes, edges and noise, on which a wrong filter shows.
[[nodiscard]] Bytes TestPicture(int width, int height, std::uint32_t seed);

[[nodiscard]] ImageView View(const Bytes& picture);

// A kResample step on a picture that was decoded at 1/denominator from (0, 0) on, before scaling to
// the range of the output.
[[nodiscard]] Reals Resample(const Bytes& picture, const Step& step, int denominator = 1);

[[nodiscard]] Bytes Brightness(Bytes picture, double factor);
[[nodiscard]] Bytes Contrast(Bytes picture, double factor);
[[nodiscard]] Bytes Saturation(Bytes picture, double factor);
[[nodiscard]] Bytes Hsv(Bytes picture, double shift, double saturation, double value);
[[nodiscard]] Bytes Blur(const Bytes& picture, int kernel, double sigma);
[[nodiscard]] Bytes Rotate(const Bytes& picture, double radians, Filter filter);

// Applies a step before the final one, except masks and padding. The result is rounded to bytes.
[[nodiscard]] Bytes Apply(const Bytes& picture, const Step& step);

// An output of the program as real numbers, [height][width][3] whatever its layout.
[[nodiscard]] Reals Decode(const std::vector<std::byte>& out, const OutputFormat& format);

// The value of an IEEE binary16, and the nearest one to `value` (halves to even), by search.
[[nodiscard]] double HalfValue(std::uint16_t half);
[[nodiscard]] std::uint16_t NearestHalf(double value);

}  // namespace penstock::loader::reference
