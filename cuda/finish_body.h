// SPDX-License-Identifier: Apache-2.0
//
// The end of every pass: applies point operations and masks to a gathered pixel, and stores it. For
// device and CPU. Nothing here depends on how threads are started.
#pragma once

#include <cstdint>
#include <type_traits>

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

PENSTOCK_HD void StoreElement(std::uint8_t* to, Element element, float value) {
  if (element == Element::kU8) {
    *to = static_cast<std::uint8_t>(RoundedByte(value));
  } else if (element == Element::kF16) {
    *reinterpret_cast<std::uint16_t*>(to) = HalfBits(value);
  } else {
    *reinterpret_cast<float*>(to) = value;
  }
}

// Stores bytes in scratch memory. (x, y): place in the kept part.
PENSTOCK_HD void StoreBytes(const Pass& pass, const Memories& memories, int x, int y, Rgb v) {
  std::uint8_t* to = memories.scratch + pass.target +
                     std::int64_t{y} * static_cast<int>(pass.target_stride) + 3 * x;
  to[0] = static_cast<std::uint8_t>(v.r);
  to[1] = static_cast<std::uint8_t>(v.g);
  to[2] = static_cast<std::uint8_t>(v.b);
}

// Stores a pixel of the output.
PENSTOCK_HD void StoreFinal(const Pass& pass, const Memories& memories, Element element, int x,
                            int y, Rgb v) {
  const int size = element == Element::kU8 ? 1 : element == Element::kF16 ? 2 : 4;
  const bool planes = pass.layout == Layout::kChw;
  const int across = planes ? size : 3 * size;
  std::uint8_t* to = memories.output + pass.target + std::int64_t{y} * (pass.kept.width * across) +
                     std::int64_t{x * across};
  const std::int64_t next =
      planes ? std::int64_t{pass.kept.width * size} * pass.kept.height : std::int64_t{size};
  StoreElement(to, element, v.r);
  StoreElement(to + next, element, v.g);
  StoreElement(to + 2 * next, element, v.b);
}

PENSTOCK_HD Rgb Scaled(const Pass& pass, Rgb v) {
  return {FusedAdd(v.r, pass.scale[0], pass.bias[0]), FusedAdd(v.g, pass.scale[1], pass.bias[1]),
          FusedAdd(v.b, pass.scale[2], pass.bias[2])};
}

PENSTOCK_HD Rgb Rounded(Rgb v) {
  return {RoundedByte(v.r), RoundedByte(v.g), RoundedByte(v.b)};
}

// Applies the point operations, in the last pass also the masks, and stores the pixel. Returns the
// pixel's grey if the pass adds up greys, else 0.
PENSTOCK_HD unsigned FinishAny(const Pass& pass, const Memories& memories, int x, int y, int to_x,
                               int to_y, Rgb v) {
  if (pass.round) v = Rounded(v);
  const Point* point = memories.points + pass.first_point;
  for (int i = 0; i < pass.points; ++i) v = Changed(point[i], x, y, v, memories.sums);
  const unsigned grey = pass.sum >= 0 ? static_cast<unsigned>(Grey(v)) : 0U;
  if (!pass.final) {
    StoreBytes(pass, memories, to_x, to_y, v);
    return grey;
  }
  v = Scaled(pass, v);
  for (int i = pass.points; i < pass.points + pass.masks; ++i) {
    if (Covers(point[i], to_x, to_y)) v = {point[i].a, point[i].a, point[i].a};
  }
  StoreFinal(pass, memories, pass.element, to_x, to_y, v);
  return grey;
}

// Finishes the pixel that was gathered for (x, y) and stores it.
template <Ending kEnding>
PENSTOCK_HD unsigned FinishPixel(const Pass& pass, const Memories& memories, int x, int y, Rgb v) {
  int to_x = x - pass.kept.x;
  int to_y = y - pass.kept.y;
  if (pass.store_mirror_x) to_x = pass.kept.width - 1 - to_x;
  if (pass.store_mirror_y) to_y = pass.kept.height - 1 - to_y;
  if (kEnding == Ending::kAny) return FinishAny(pass, memories, x, y, to_x, to_y, v);
  if (kEnding == Ending::kBytes) {
    StoreBytes(pass, memories, to_x, to_y, Rounded(v));
  } else {
    constexpr Element kElement = kEnding == Ending::kU8    ? Element::kU8
                                 : kEnding == Ending::kF16 ? Element::kF16
                                                           : Element::kF32;
    StoreFinal(pass, memories, kElement, to_x, to_y, Scaled(pass, v));
  }
  return 0;
}

// Calls `choose` with the ending as an std::integral_constant.
template <class Choose>
auto WithEnding(Ending ending, const Choose& choose) {
  switch (ending) {
    case Ending::kBytes:
      return choose(std::integral_constant<Ending, Ending::kBytes>{});
    case Ending::kU8:
      return choose(std::integral_constant<Ending, Ending::kU8>{});
    case Ending::kF16:
      return choose(std::integral_constant<Ending, Ending::kF16>{});
    case Ending::kF32:
      return choose(std::integral_constant<Ending, Ending::kF32>{});
    default:
      return choose(std::integral_constant<Ending, Ending::kAny>{});
  }
}

}  // namespace penstock::cuda
