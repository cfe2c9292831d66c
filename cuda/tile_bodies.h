// SPDX-License-Identifier: Apache-2.0
//
// The work of one thread in passes over tiles: resizes and blurs. A kernel calls these functions
// with barriers between them. The emulation on the CPU calls them for one thread after the other.
// `lane` and `row` are the thread's place in its block of kLanes x kRows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/finish_body.h"
#include "cuda/host_device.h"
#include "cuda/passes.h"
#include "cuda/pixel_math.h"
#include "cuda/taps_body.h"

namespace penstock::cuda {

inline constexpr int kAlone = -1;

// Computes row j of the strip from kTaps of its taps, or from four taps if kTaps is 0, beginning
// with tap `first`. Unless kApart is kAlone, also computes row j + 1, whose first source row lies
// kApart rows below that of row j; a word that both rows read is unpacked once. All words of a
// column are read before the first is used. Each sum begins with the top row.
template <bool kBlur, int kTaps, int kApart>
PENSTOCK_HD void DownRows(const Pass& pass, const TileBlock& block, int j, int first, int lane) {
  const Words& words = block.words;
  constexpr bool kPair = kApart != kAlone;
  constexpr int kEach = kTaps == 0 ? 4 : kTaps;
  constexpr int kRead = kEach + (kPair ? kApart : 0);
  const std::uint32_t* rows[std::size_t{kRead}];
  for (int k = 0; k < kRead; ++k) {
    const int row = RowAt<kBlur>(pass, block.starts_y[j] + first + k);
    rows[k] =
        reinterpret_cast<const std::uint32_t*>(words.source + std::int64_t{row} * words.stride);
  }
  float weights[2][std::size_t{kEach}] = {};
  for (int k = 0; k < kEach; ++k) {
    const float* from = block.weights_y + j * pass.tile.step_y + first + k;
    weights[0][k] = from[0];
    if (kPair) weights[1][k] = from[pass.tile.step_y];
  }
  auto* const to = reinterpret_cast<FourFloats*>(block.rows + j * pass.tile.pitch);
  auto* const below = reinterpret_cast<FourFloats*>(block.rows + (j + 1) * pass.tile.pitch);
  for (int i = lane; i < words.count; i += kLanes) {
    const int at = Least(i, words.last);
    std::uint32_t word[std::size_t{kRead}];
    for (int k = 0; k < kRead; ++k) word[k] = rows[k][at];
    FourFloats sums[2] = {};
    if (kTaps == 0 && first != 0) sums[0] = to[i];
    for (int k = 0; k < kRead; ++k) {
      for (unsigned c = 0; c < 4; ++c) {
        const float value = ByteOf(word[k], c);
        float* const sum = &sums[0].value[c];
        float* const next = &sums[1].value[c];
        if (k < kEach) *sum = FusedAdd(weights[0][k], value, *sum);
        if (kPair && k >= kApart) *next = FusedAdd(weights[1][k - kApart], value, *next);
      }
    }
    to[i] = sums[0];
    if (kPair) below[i] = sums[1];
  }
}

// Second phase: turns source rows into rows of the tile. Works on four bytes at a time, whatever
// channels they belong to. kTaps: number of taps of the block; 0: any number, in groups of four.
template <bool kBlur, int kTaps>
PENSTOCK_HD void DownWords(const Pass& pass, const TileBlock& block, int lane, int row) {
  if constexpr (kTaps == 0) {
    for (int j = row; j < block.box.height; j += kRows) {
      for (int first = 0; first < block.taps_y; first += 4) {
        DownRows<kBlur, 0, kAlone>(pass, block, j, first, lane);
      }
    }
  } else {
    // In a resize with kTaps taps, neighbouring rows begin about kTaps / 2 source rows apart.
    constexpr int kApart = kBlur ? 1 : (kTaps - 1) / 2;
    const int each = pass.tile.height < 2 * kRows ? 1 : 2;  // low tiles give each thread one row
    for (int j = each * row; j < block.box.height; j += each * kRows) {
      const bool pair = each == 2 && j + 1 < block.box.height;
      const int apart = pair ? block.starts_y[j + 1] - block.starts_y[j] : kAlone;
      if (apart == kApart) {
        DownRows<kBlur, kTaps, kApart>(pass, block, j, 0, lane);
      } else if (!kBlur && apart == kApart + 1) {
        DownRows<kBlur, kTaps, kApart + 1>(pass, block, j, 0, lane);
      } else {
        DownRows<kBlur, kTaps, kAlone>(pass, block, j, 0, lane);
        if (pair) DownRows<kBlur, kTaps, kAlone>(pass, block, j + 1, 0, lane);
      }
    }
  }
}

// The second phase of a blur near the picture's left or right border, pixel by pixel.
PENSTOCK_HD void DownReflected(const Pass& pass, const Memories& memories, const TileBlock& block,
                               int lane, int row) {
  const int first = block.starts_x[0];
  const int columns = block.box.width - 1 + block.taps_x;
  const std::uint8_t* source = SourceOf(pass, memories);
  for (int j = row; j < block.box.height; j += kRows) {
    const float* weights = block.weights_y + j * pass.tile.step_y;
    for (int i = lane; i < columns; i += kLanes) {
      const int column = Reflected(first + i, pass.width);
      Rgb sum;
      for (int k = 0; k < block.taps_y; ++k) {
        const int from = RowAt<true>(pass, block.starts_y[j] + k);
        const std::uint8_t* pixel = source + from * pass.source.stride + 3 * column;
        sum.r = FusedAdd(weights[k], static_cast<float>(pixel[0]), sum.r);
        sum.g = FusedAdd(weights[k], static_cast<float>(pixel[1]), sum.g);
        sum.b = FusedAdd(weights[k], static_cast<float>(pixel[2]), sum.b);
      }
      float* to = block.rows + j * pass.tile.pitch + 3 * i;
      to[0] = sum.r;
      to[1] = sum.g;
      to[2] = sum.b;
    }
  }
}

template <bool kBlur>
PENSTOCK_HD void TileDown(const Pass& pass, const Memories& memories, const TileBlock& block,
                          int lane, int row) {
  if (kBlur && !block.words.inside) {
    DownReflected(pass, memories, block, lane, row);
    return;
  }
  switch (block.taps_y) {
    case 2:
      return DownWords<kBlur, 2>(pass, block, lane, row);
    case 3:
      return DownWords<kBlur, 3>(pass, block, lane, row);
    case 4:
      return DownWords<kBlur, 4>(pass, block, lane, row);
    case 5:
      return DownWords<kBlur, 5>(pass, block, lane, row);
    default:
      return DownWords<kBlur, 0>(pass, block, lane, row);
  }
}

// Third phase: turns rows of the tile into pixels. Returns the sum of their greys. kTaps as above.
template <Ending kEnding, int kTaps>
PENSTOCK_HD unsigned AcrossWords(const Pass& pass, const Memories& memories, const TileBlock& block,
                                 int lane, int row) {
  const int pitch = pass.tile.pitch;
  const int taps = kTaps == 0 ? block.taps_x : kTaps;
  const int width = block.box.width;
  const int height = block.box.height;
  unsigned grey = 0;
  for (int i = lane; i < width; i += kLanes) {
    const float* weights = block.weights_x + i * pass.tile.step_x;
    float weight[std::size_t{kTaps == 0 ? 1 : kTaps}] = {};
    for (int k = 0; k < kTaps; ++k) weight[k] = weights[k];
    const float* column = block.rows + block.words.origin + 3 * block.starts_x[i];
    for (int j = row; j < height; j += kRows) {
      const float* pixel = column + j * pitch;
      Rgb sum;
      for (int k = 0; k < taps; ++k, pixel += 3) {
        const float share = kTaps == 0 ? weights[k] : weight[k];
        sum.r = FusedAdd(share, pixel[0], sum.r);
        sum.g = FusedAdd(share, pixel[1], sum.g);
        sum.b = FusedAdd(share, pixel[2], sum.b);
      }
      grey += FinishPixel<kEnding>(pass, memories, block.box.x + i, block.box.y + j, sum);
    }
  }
  return grey;
}

template <Ending kEnding>
PENSTOCK_HD unsigned TileAcross(const Pass& pass, const Memories& memories, const TileBlock& block,
                                int lane, int row) {
  // kTaps 0: the point operations need the registers that kTaps taps would use, and take more time
  // than the taps.
  if (kEnding == Ending::kAny) {
    return AcrossWords<kEnding, 0>(pass, memories, block, lane, row);
  }
  switch (block.taps_x) {
    case 2:
      return AcrossWords<kEnding, 2>(pass, memories, block, lane, row);
    case 3:
      return AcrossWords<kEnding, 3>(pass, memories, block, lane, row);
    case 4:
      return AcrossWords<kEnding, 4>(pass, memories, block, lane, row);
    case 5:
      return AcrossWords<kEnding, 5>(pass, memories, block, lane, row);
    default:
      return AcrossWords<kEnding, 0>(pass, memories, block, lane, row);
  }
}

}  // namespace penstock::cuda
