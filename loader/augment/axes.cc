// SPDX-License-Identifier: Apache-2.0
#include "loader/augment/axes.h"

#include <cmath>

namespace penstock::loader {
namespace {

// Rounds down also where `value` is negative. Requires: divisor > 0.
int FloorDivide(int value, int divisor) {
  return value >= 0 ? value / divisor : -((divisor - 1 - value) / divisor);
}

// One axis of a resampling step, in pixels of the decoded image. `source`, `source_size` and
// `covers` are in pixels of the full resolution; `scaled`, `first` and `count` are in pixels of the
// scaled picture.
Axis AxisOf(int source, int source_size, int scaled, int first, int count, int covers,
            int denominator, bool mirrored, Filter filter) {
  Axis axis;
  const int from = source - covers;
  axis.base = FloorDivide(from, denominator);
  axis.offset = static_cast<double>(from - axis.base * denominator) / denominator;
  const double size = static_cast<double>(source_size) / denominator;
  axis.limit = static_cast<int>(std::ceil(axis.offset + size));
  axis.ratio = size / scaled;
  axis.first = first;
  axis.count = count;
  axis.mirrored = mirrored;
  axis.filter = filter;
  return axis;
}

}  // namespace

Axes AxesOf(const Step& step, const Region& covers, int denominator) {
  return {AxisOf(step.source.x, step.source.width, step.scaled.width, step.window.x,
                 step.window.width, covers.x, denominator, step.flip_x, step.filter),
          AxisOf(step.source.y, step.source.height, step.scaled.height, step.window.y,
                 step.window.height, covers.y, denominator, step.flip_y, step.filter)};
}

OutputScale OutputScaleOf(const AugmentProgram& program) {
  OutputScale output;
  output.scale.fill(program.format().type != ElementType::kU8 ? 1.0F / 255 : 1.0F);
  for (const Op& op : program.ops()) {
    if (op.kind != OpKind::kNormalize) continue;
    for (std::size_t c = 0; c < 3; ++c) {
      output.scale[c] = static_cast<float>(1 / (255 * op.deviation[c]));
      output.bias[c] = static_cast<float>(-op.mean[c] / op.deviation[c]);
    }
  }
  return output;
}

}  // namespace penstock::loader
