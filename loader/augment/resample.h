// SPDX-License-Identifier: Apache-2.0
//
// The fused kernel: crop, separable resize, mirror, normalise, convert and lay out in one pass. The
// vertical pass comes first, row by row, in float without rounding in between. The code for the
// CPU's vector unit is chosen at run time. Everything here belongs to one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "loader/augment/buffer.h"
#include "loader/augment/program.h"
#include "loader/augment/taps.h"
#include "loader/decode/image.h"

namespace penstock::loader {

struct ResampleScratch {
  TapCache horizontal;
  TapCache vertical;
  Buffer<float> row;          // [3][pitch] the row after the vertical pass
  Buffer<float> next;         // the sums so far of the next row
  Buffer<std::uint8_t> tail;  // copies of the last rows, with room after them
  Buffer<const std::uint8_t*> rows;
  Buffer<float> row_weights;  // of this output row, then of the next
};

struct ResampleJob {
  ImageView source;
  Axis x;
  Axis y;
  OutputFormat format;                  // x.count by y.count
  std::array<float, 3> scale{1, 1, 1};  // output = value * scale + bias
  std::array<float, 3> bias{0, 0, 0};
  std::byte* out = nullptr;
};

// Does the job. False, with nothing done, if a pixel with weight is not in the source.
//
// Requires: out holds format.bytes().
[[nodiscard]] bool Resample(const ResampleJob& job, ResampleScratch& scratch);

}  // namespace penstock::loader
