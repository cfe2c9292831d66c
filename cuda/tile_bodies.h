// SPDX-License-Identifier: Apache-2.0
//
// What one thread does in passes over tiles: resizes and blurs. A kernel is these functions with
// barriers between them; so is the emulation on the CPU, which calls them for one thread after the
// other. `lane` and `row` are the thread's place in its block of kLanes x kRows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/finish_body.h"
#include "cuda/host_device.h"
#include "cuda/passes.h"
#include "cuda/pixel_math.h"
#include "cuda/taps_body.h"

namespace penstock::cuda {

PENSTOCK_HD int Reflected(int i, int n) {
  const int period = Most(1, 2 * (n - 1));
  i = (i % period + period) % period;
  return Least(i, period - i) % n;
}

// Columns of the source that the tile reads: the first of them, how many have weight somewhere, and
// how many there must be numbers for; those are read with a weight of zero.
struct Columns {
  int first = 0;
  int count = 0;
  int padded = 0;
};

template <bool kBlur>
PENSTOCK_HD Columns ColumnsOf(const Pass& pass, const TileBlock& block) {
  const int a = block.starts_x[0];
  const int b = block.starts_x[block.box.width - 1];
  const int first = Least(a, b);
  const int padded = Most(a, b) + block.taps_x - first;
  if (kBlur) return {first, padded, padded};
  // Taps without weight may lie behind the picture, or behind the part of it that is there.
  const int end = Least(pass.x.limit, pass.source.width - pass.x.base);
  return {first, Least(padded, end - first), padded};
}

// Whether the columns that a blur reads are all in the picture, so that words of them can be read.
PENSTOCK_HD bool IsInterior(const Pass& pass, const Columns& columns) {
  return columns.first >= 0 && columns.first + columns.count <= pass.width;
}

// Byte of the first column in the words that are read: 0 to 3.
template <bool kBlur>
PENSTOCK_HD int ShiftOf(const Pass& pass, const Columns& columns) {
  if (kBlur) return IsInterior(pass, columns) ? (3 * columns.first) & 3 : 0;
  return (3 * (pass.x.base + columns.first)) & 3;
}

// Row of the source for a tap; where the tap has no weight, some row that can be read.
template <bool kBlur>
PENSTOCK_HD int RowAt(const Pass& pass, int tap) {
  if (!kBlur) return Least(pass.y.base + tap, pass.source.height - 1);
  return tap >= 0 && tap < pass.height ? tap : Reflected(tap, pass.height);
}

PENSTOCK_HD const std::uint32_t* WordsOf(const std::uint8_t* source, int row, int stride) {
  return reinterpret_cast<const std::uint32_t*>(source + std::int64_t{row} * stride);
}

// Adds kTaps words of one column, one below the other. All are read before one is used.
template <bool kBlur, int kTaps>
PENSTOCK_HD void AddWords(const std::uint32_t* const* rows, const float* weights, int at,
                          FourFloats* sum) {
  std::uint32_t words[std::size_t{kTaps}];
  for (int k = 0; k < kTaps; ++k) words[k] = rows[k][at];
  for (int k = 0; k < kTaps; ++k) {
    for (unsigned c = 0; c < 4; ++c) {
      sum->value[c] = FusedAdd(weights[k], ByteOf(words[k], c), sum->value[c]);
    }
  }
}

// Second phase: source rows to rows of the tile, four bytes at a time, whichever channel they are.
// kTaps: as many as the block has; 0: any number, four by four.
template <bool kBlur, int kTaps>
PENSTOCK_HD void DownWords(const Pass& pass, const Memories& memories, const TileBlock& block,
                           int lane, int row) {
  constexpr int kAtOnce = kTaps == 0 ? 4 : kTaps;
  const Columns columns = ColumnsOf<kBlur>(pass, block);
  const int shift = ShiftOf<kBlur>(pass, columns);
  const int last = (shift + 3 * columns.count + 3) / 4 - 1;
  const int words = (shift + 3 * columns.padded + 3) / 4;
  const int left = columns.first + (kBlur ? 0 : pass.x.base);
  const std::uint8_t* source = SourceOf(pass, memories) + (3 * left - shift);
  const int stride = static_cast<int>(pass.source.stride);
  const int pitch = pass.tile.pitch;
  const int height = block.box.height;
  for (int j = row; j < height; j += kRows) {
    auto* const to = reinterpret_cast<FourFloats*>(block.rows + j * pitch);
    const float* weights = block.weights_y + j * pass.tile.step_y;
    const int start = block.starts_y[j];
    int done = 0;
    do {
      float weight[std::size_t{kAtOnce}];
      const std::uint32_t* rows[std::size_t{kAtOnce}];
      for (int k = 0; k < kAtOnce; ++k) {
        weight[k] = weights[done + k];
        rows[k] = WordsOf(source, RowAt<kBlur>(pass, start + done + k), stride);
      }
      for (int i = lane; i < words; i += kLanes) {
        FourFloats sum{};
        if (kTaps == 0 && done != 0) sum = to[i];
        AddWords<kBlur, kAtOnce>(rows, weight, Least(i, last), &sum);
        to[i] = sum;
      }
      done += kAtOnce;
    } while (kTaps == 0 && done < block.taps_y);
  }
}

// The same for a blur near the picture's left or right border, pixel by pixel.
PENSTOCK_HD void DownReflected(const Pass& pass, const Memories& memories, const TileBlock& block,
                               const Columns& columns, int lane, int row) {
  const std::uint8_t* source = SourceOf(pass, memories);
  for (int j = row; j < block.box.height; j += kRows) {
    const float* weights = block.weights_y + j * pass.tile.step_y;
    for (int i = lane; i < columns.count; i += kLanes) {
      const int column = Reflected(columns.first + i, pass.width);
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
  if (kBlur) {
    const Columns columns = ColumnsOf<kBlur>(pass, block);
    if (!IsInterior(pass, columns)) {
      DownReflected(pass, memories, block, columns, lane, row);
      return;
    }
  }
  switch (block.taps_y) {
    case 2:
      return DownWords<kBlur, 2>(pass, memories, block, lane, row);
    case 3:
      return DownWords<kBlur, 3>(pass, memories, block, lane, row);
    case 4:
      return DownWords<kBlur, 4>(pass, memories, block, lane, row);
    case 5:
      return DownWords<kBlur, 5>(pass, memories, block, lane, row);
    default:
      return DownWords<kBlur, 0>(pass, memories, block, lane, row);
  }
}

// Third phase: rows of the tile to pixels. Returns the sum of their greys. kTaps as above.
template <bool kBlur, Ending kEnding, int kTaps>
PENSTOCK_HD unsigned AcrossWords(const Pass& pass, const Memories& memories, const TileBlock& block,
                                 int lane, int row) {
  const Columns columns = ColumnsOf<kBlur>(pass, block);
  const int shift = ShiftOf<kBlur>(pass, columns);
  const int pitch = pass.tile.pitch;
  const int taps = kTaps == 0 ? block.taps_x : kTaps;
  const int width = block.box.width;
  const int height = block.box.height;
  unsigned grey = 0;
  for (int i = lane; i < width; i += kLanes) {
    const float* weights = block.weights_x + i * pass.tile.step_x;
    float weight[std::size_t{kTaps == 0 ? 1 : kTaps}] = {};
    for (int k = 0; k < kTaps; ++k) weight[k] = weights[k];
    const float* column = block.rows + shift + 3 * (block.starts_x[i] - columns.first);
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

template <bool kBlur, Ending kEnding>
PENSTOCK_HD unsigned TileAcross(const Pass& pass, const Memories& memories, const TileBlock& block,
                                int lane, int row) {
  // The points need the registers, and more time than the taps.
  if (kEnding == Ending::kAny) {
    return AcrossWords<kBlur, kEnding, 0>(pass, memories, block, lane, row);
  }
  switch (block.taps_x) {
    case 2:
      return AcrossWords<kBlur, kEnding, 2>(pass, memories, block, lane, row);
    case 3:
      return AcrossWords<kBlur, kEnding, 3>(pass, memories, block, lane, row);
    case 4:
      return AcrossWords<kBlur, kEnding, 4>(pass, memories, block, lane, row);
    case 5:
      return AcrossWords<kBlur, kEnding, 5>(pass, memories, block, lane, row);
    default:
      return AcrossWords<kBlur, kEnding, 0>(pass, memories, block, lane, row);
  }
}

}  // namespace penstock::cuda
