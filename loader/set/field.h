// SPDX-License-Identifier: Apache-2.0
//
// Random fields and blur, from which the scenes of synthetic photographs are made. Values without
// shared state. The same random stream gives the same field.
#pragma once

#include <cstddef>
#include <vector>

#include "loader/random/philox.h"

namespace penstock::loader {

// One channel of an image.
struct Plane {
  Plane() = default;
  Plane(int w, int h, float value)
      : width(w),
        height(h),
        values(static_cast<std::size_t>(w) * static_cast<std::size_t>(h), value) {}

  [[nodiscard]] float* row(int y) {
    return values.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(width);
  }
  [[nodiscard]] const float* row(int y) const {
    return values.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(width);
  }

  int width = 0;
  int height = 0;
  std::vector<float> values;  // [height][width]
};

// A field whose amplitude falls about as 1/f^exponent, as in photographs (exponent about 1), with
// mean 0 and deviation 1. It is made octave by octave: the coarser field at twice its size plus
// white noise.
//
// Requires: width and height >= 1.
// Cost:     4/3 random numbers a pixel.
[[nodiscard]] Plane NaturalField(Random& random, int width, int height, double exponent);

// Gaussian blur in place, with the border repeated outwards. sigma: in pixels, > 0.
void Blur(Plane& plane, double sigma);

}  // namespace penstock::loader
