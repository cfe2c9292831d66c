// SPDX-License-Identifier: Apache-2.0
//
// The work of one thread in passes that need no shared memory: windows, rotations, and streams of
// whole rows, four pixels at a time. For device and CPU, like tile_bodies.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/finish_body.h"
#include "cuda/host_device.h"
#include "cuda/passes.h"
#include "cuda/pixel_math.h"

namespace penstock::cuda {

PENSTOCK_HD Rgb PixelAt(const Pass& pass, const std::uint8_t* source, std::int64_t x,
                        std::int64_t y) {
  if (x < 0 || y < 0 || x >= pass.source.width || y >= pass.source.height) return {};
  const std::uint8_t* pixel = source + y * pass.source.stride + 3 * x;
  return {static_cast<float>(pixel[0]), static_cast<float>(pixel[1]), static_cast<float>(pixel[2])};
}

// A coordinate in fixed point, with 32 fractional bits.
PENSTOCK_HD std::int64_t Fixed(double value) {
  return llround(value * 4294967296.0);
}

PENSTOCK_HD float FractionOf(std::int64_t at) {
  return static_cast<float>(static_cast<std::uint32_t>(at) >> 8) * (1.0f / 16777216.0f);
}

PENSTOCK_HD float Mixed(float a, float b, float share) {
  const float part = share * (b - a);
  return a + part;
}

PENSTOCK_HD Rgb RotatedPixel(const Pass& pass, const std::uint8_t* source, int x, int y) {
  const bool bilinear = pass.gather == Gather::kRotateBilinear;
  const double half = bilinear ? 0.5 : 0.0;
  const double dx = 0.5 - pass.width / 2.0;
  const double dy = y + 0.5 - pass.height / 2.0;
  const std::int64_t at_x =
      Fixed(dx * pass.cosine - dy * pass.sine + pass.source.width / 2.0 - half) +
      x * Fixed(pass.cosine);
  const std::int64_t at_y =
      Fixed(dx * pass.sine + dy * pass.cosine + pass.source.height / 2.0 - half) +
      x * Fixed(pass.sine);
  const std::int64_t left = at_x >> 32;
  const std::int64_t top = at_y >> 32;
  if (!bilinear) return PixelAt(pass, source, left, top);
  const float right = FractionOf(at_x);
  const float below = FractionOf(at_y);
  const Rgb a = PixelAt(pass, source, left, top);
  const Rgb b = PixelAt(pass, source, left + 1, top);
  const Rgb c = PixelAt(pass, source, left, top + 1);
  const Rgb d = PixelAt(pass, source, left + 1, top + 1);
  return {Mixed(Mixed(a.r, b.r, right), Mixed(c.r, d.r, right), below),
          Mixed(Mixed(a.g, b.g, right), Mixed(c.g, d.g, right), below),
          Mixed(Mixed(a.b, b.b, right), Mixed(c.b, d.b, right), below)};
}

PENSTOCK_HD Rgb GatheredPixel(const Pass& pass, const std::uint8_t* source, int x, int y) {
  if (pass.gather != Gather::kWindow) return RotatedPixel(pass, source, x, y);
  return PixelAt(pass, source, pass.left + (pass.mirror_x ? pass.width - 1 - x : x),
                 pass.top + (pass.mirror_y ? pass.height - 1 - y : y));
}

// The place of an item of one thread: of item `first`, then after each Next() of the item kThreads
// further on. Items lie in rows of `in_row`.
struct Walk {
  int width = 1;
  int x = 0;
  int y = 0;

  PENSTOCK_HD Walk(int first, int in_row)
      : width(in_row),
        x(first % in_row),
        y(first / in_row),
        across_(kThreads % in_row),
        down_(kThreads / in_row) {}
  PENSTOCK_HD void Next() {
    x += across_;
    y += down_;
    if (x >= width) {
      x -= width;
      ++y;
    }
  }

 private:
  int across_;
  int down_;
};

// Makes the pixels of one thread and returns the sum of their greys. Reads all pixels before it
// stores the first. In a pass with point operations it makes them one by one instead: these take
// longer, and need the registers that several pixels would fill.
template <Ending kEnding>
PENSTOCK_HD unsigned WindowPixels(const Pass& pass, const Memories& memories, int block,
                                  int thread) {
  constexpr int kAhead = kEnding == Ending::kAny ? 1 : kItems;
  const int all = pass.kept.width * pass.kept.height;
  const int first = block * (kItems * kThreads) + thread;
  const std::uint8_t* source = SourceOf(pass, memories);
  Walk from(first, pass.kept.width);
  Walk to = from;
  unsigned grey = 0;
  for (int done = 0; done < kItems; done += kAhead) {
    Rgb values[std::size_t{kAhead}];
    for (int i = 0; i < kAhead; ++i, from.Next()) {
      if (first + (done + i) * kThreads >= all) continue;
      values[i] = GatheredPixel(pass, source, pass.kept.x + from.x, pass.kept.y + from.y);
    }
    for (int i = 0; i < kAhead; ++i, to.Next()) {
      if (first + (done + i) * kThreads >= all) continue;
      grey +=
          FinishPixel<kEnding>(pass, memories, pass.kept.x + to.x, pass.kept.y + to.y, values[i]);
    }
  }
  return grey;
}

struct alignas(8) TwoWords {
  std::uint32_t word[2];
};
struct alignas(16) FourWords {
  std::uint32_t word[4];
};

PENSTOCK_HD std::uint32_t FloatBits(float value) {
#ifdef __CUDA_ARCH__
  return __float_as_uint(value);
#else
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
#endif
}

PENSTOCK_HD std::uint32_t TwoHalves(float low, float high) {
  return static_cast<std::uint32_t>(HalfBits(low)) | static_cast<std::uint32_t>(HalfBits(high))
                                                         << 16;
}

// Stores four elements side by side, from element `index` on, which is a multiple of four.
template <Element kElement>
PENSTOCK_HD void StoreFour(std::uint8_t* output, std::int64_t index, const float* v) {
  if (kElement == Element::kF32) {
    reinterpret_cast<FourWords*>(output + 4 * index)[0] = {
        {FloatBits(v[0]), FloatBits(v[1]), FloatBits(v[2]), FloatBits(v[3])}};
  } else if (kElement == Element::kF16) {
    reinterpret_cast<TwoWords*>(output +
                                2 * index)[0] = {{TwoHalves(v[0], v[1]), TwoHalves(v[2], v[3])}};
  } else {
    std::uint32_t word = 0;
    for (int i = 0; i < 4; ++i) word |= static_cast<std::uint32_t>(RoundedByte(v[i])) << 8 * i;
    reinterpret_cast<std::uint32_t*>(output + index)[0] = word;
  }
}

// Four pixels in three words.
struct FourPixels {
  std::uint32_t word[3];
};

// Stores four pixels from `pixel` on, which is a multiple of four. plane: pixels of a channel.
template <Element kElement>
PENSTOCK_HD void StorePixels(const Pass& pass, std::uint8_t* output, const FourPixels& four,
                             int pixel, int plane) {
  float v[12];
  for (unsigned i = 0; i < 12; ++i) {
    v[i] = FusedAdd(ByteOf(four.word[i / 4], i % 4), pass.scale[i % 3], pass.bias[i % 3]);
  }
  if (pass.layout == Layout::kHwc) {
    for (int part = 0; part < 3; ++part) {
      StoreFour<kElement>(output, 3 * std::int64_t{pixel} + 4 * part, v + 4 * part);
    }
    return;
  }
  for (int c = 0; c < 3; ++c) {
    const float channel[4] = {v[c], v[c + 3], v[c + 6], v[c + 9]};
    StoreFour<kElement>(output, c * std::int64_t{plane} + pixel, channel);
  }
}

template <Element kElement>
PENSTOCK_HD void StreamGroups(const Pass& pass, const Memories& memories, int block, int thread) {
  const int groups = pass.kept.width / 4;  // in a row
  const int plane = pass.kept.width * pass.kept.height;
  const int all = groups * pass.kept.height;
  const int first = block * (kItems * kThreads) + thread;
  if (first >= all) return;
  const int stride = static_cast<int>(pass.source.stride);
  const std::uint8_t* source =
      SourceOf(pass, memories) + std::int64_t{pass.top} * stride + 3 * pass.left;
  FourPixels four[kItems];
  Walk walk(first, groups);
  for (int i = 0; i < kItems; ++i, walk.Next()) {  // read all before one is used
    if (first + i * kThreads < all) {
      four[i] = *reinterpret_cast<const FourPixels*>(source + std::int64_t{walk.y} * stride +
                                                     12 * walk.x);
    }
  }
  std::uint8_t* output = memories.output + pass.target;
  for (int i = 0; i < kItems; ++i) {
    const int at = first + i * kThreads;
    if (at < all) StorePixels<kElement>(pass, output, four[i], 4 * at, plane);
  }
}

// Makes one thread's part of a kStream pass: groups of four pixels, kThreads apart, counted row by
// row.
PENSTOCK_HD void StreamPixels(const Pass& pass, const Memories& memories, int block, int thread) {
  if (pass.element == Element::kF32) {
    StreamGroups<Element::kF32>(pass, memories, block, thread);
  } else if (pass.element == Element::kF16) {
    StreamGroups<Element::kF16>(pass, memories, block, thread);
  } else {
    StreamGroups<Element::kU8>(pass, memories, block, thread);
  }
}

}  // namespace penstock::cuda
