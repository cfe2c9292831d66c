// SPDX-License-Identifier: Apache-2.0
//
// Turns a resampling step into axes in pixels of the decoded image, and a program into the scale
// and bias of its output. For the code that carries out plans on the CPU and on a device. Pure.
#pragma once

#include <array>

#include "loader/augment/plan.h"
#include "loader/augment/program.h"
#include "loader/augment/taps.h"
#include "loader/decode/image.h"

namespace penstock::loader {

struct Axes {
  Axis x;
  Axis y;
};

// The axes of a kResample step on pixels that show `covers` at 1/denominator.
[[nodiscard]] Axes AxesOf(const Step& step, const Region& covers, int denominator);

// output = value * scale + bias, channel by channel.
struct OutputScale {
  std::array<float, 3> scale{1, 1, 1};
  std::array<float, 3> bias{0, 0, 0};
};
[[nodiscard]] OutputScale OutputScaleOf(const AugmentProgram& program);

}  // namespace penstock::loader
