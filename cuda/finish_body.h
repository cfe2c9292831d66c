// SPDX-License-Identifier: Apache-2.0
//
// What every pass does with a pixel once it has been gathered: points, masks, and the store. For
// device and CPU alike; nothing here knows how threads are started.
#pragma once

#include <cstdint>

#include "cuda/host_device.h"
#include "cuda/passes.h"
#include "cuda/pixel_math.h"

namespace penstock::cuda {

PENSTOCK_HD int Least(int a, int b) {
  return a < b ? a : b;
}
PENSTOCK_HD int Most(int a, int b) {
  return a > b ? a : b;
}

PENSTOCK_HD const std::uint8_t* SourceOf(const Pass& pass, const Memories& memories) {
  return (pass.source.memory == Memory::kInput ? memories.input : memories.scratch) +
         pass.source.offset;
}

PENSTOCK_HD void StoreElement(std::uint8_t* output, Element element, std::int64_t index,
                              float value) {
  if (element == Element::kU8) {
    output[index] = static_cast<std::uint8_t>(RoundedByte(value));
  } else if (element == Element::kF16) {
    reinterpret_cast<std::uint16_t*>(output)[index] = HalfBits(value);
  } else {
    reinterpret_cast<float*>(output)[index] = value;
  }
}

// Points, then the store of what was gathered for (x, y). Returns the pixel's grey where the pass
// adds them up.
PENSTOCK_HD unsigned FinishPixel(const Pass& pass, const Memories& memories, int x, int y, Rgb v) {
  if (pass.round) v = {RoundedByte(v.r), RoundedByte(v.g), RoundedByte(v.b)};
  const Point* point = memories.points + pass.first_point;
  for (int i = 0; i < pass.points; ++i) v = Changed(point[i], x, y, v, memories.sums);
  const unsigned grey = pass.sum >= 0 ? static_cast<unsigned>(Grey(v)) : 0U;

  int to_x = x - pass.kept.x;
  int to_y = y - pass.kept.y;
  if (pass.store_mirror_x) to_x = pass.kept.width - 1 - to_x;
  if (pass.store_mirror_y) to_y = pass.kept.height - 1 - to_y;
  if (!pass.final) {
    std::uint8_t* to = memories.scratch + pass.target + to_y * pass.target_stride + 3 * to_x;
    to[0] = static_cast<std::uint8_t>(v.r);
    to[1] = static_cast<std::uint8_t>(v.g);
    to[2] = static_cast<std::uint8_t>(v.b);
    return grey;
  }
  v = {FusedAdd(v.r, pass.scale[0], pass.bias[0]), FusedAdd(v.g, pass.scale[1], pass.bias[1]),
       FusedAdd(v.b, pass.scale[2], pass.bias[2])};
  for (int i = pass.points; i < pass.points + pass.masks; ++i) {
    if (Covers(point[i], to_x, to_y)) v = {point[i].a, point[i].a, point[i].a};
  }
  std::uint8_t* output = memories.output + pass.target;
  const std::int64_t pixel = std::int64_t{to_y} * pass.kept.width + to_x;
  const bool planes = pass.layout == Layout::kChw;
  const std::int64_t step = planes ? std::int64_t{pass.kept.width} * pass.kept.height : 1;
  const std::int64_t first = planes ? pixel : 3 * pixel;
  StoreElement(output, pass.element, first, v.r);
  StoreElement(output, pass.element, first + step, v.g);
  StoreElement(output, pass.element, first + 2 * step, v.b);
  return grey;
}

}  // namespace penstock::cuda
