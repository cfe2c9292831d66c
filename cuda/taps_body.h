// SPDX-License-Identifier: Apache-2.0
//
// Finds the pixels and the weights of each output of a tiled pass. For a block of threads, lays out
// its shared memory and chooses its part of the picture. For device and CPU.
#pragma once

#include <cstdint>

#include "cuda/finish_body.h"
#include "cuda/host_device.h"
#include "cuda/passes.h"
#include "cuda/pixel_math.h"

namespace penstock::cuda {

// The first pixel with weight for an output along the axis, and the distance from the output's
// centre to the pixel's centre.
struct FirstTap {
  int start = 0;
  float distance = 0;
};

PENSTOCK_HD Reach ReachOf(const Axis& axis) {
  if (axis.filter == Filter::kNearest) return {};
  const double support = axis.filter == Filter::kBilinear && axis.ratio > 1 ? axis.ratio : 1.0;
  return {support, static_cast<float>(1 / support)};
}

PENSTOCK_HD FirstTap FirstTapOf(const Axis& axis, const Reach& reach, int i) {
  const int at = axis.mirrored ? axis.count - 1 - i : i;
  const double centre = axis.offset + (axis.first + at + 0.5) * axis.ratio;
  const double shift = reach.support == 0 ? 0.0 : 0.5 - reach.support;
  double first = floor(centre + shift);
  first = first < 0 ? 0 : first;
  first = first > axis.limit - 1 ? axis.limit - 1 : first;
  return {static_cast<int>(first), static_cast<float>(first + 0.5 - centre)};
}

struct alignas(16) FourFloats {
  float value[4];
};

// Writes the normalised weights of the output whose first pixel is `tap`, and zeros after them up
// to `step`. Returns whether the last of the `taps` has weight.
PENSTOCK_HD bool WeightsOf(const Axis& axis, const Reach& reach, const FirstTap& tap, int taps,
                           int step, FourFloats* weights) {
  const int limit = Least(taps, axis.limit - tap.start);
  float distance = tap.distance;
  float sum = 0;
  bool last = false;
  for (int k = 0; k < step; k += 4) {
    FourFloats four{};
    for (int c = 0; c < 4; ++c) {
      const float weight = FusedAdd(-fabsf(distance), reach.slope, 1.0f);
      four.value[c] = k + c < limit && weight > 0 ? weight : 0.0f;
      if (k + c == taps - 1) last = four.value[c] > 0;
      sum += four.value[c];
      distance += 1.0f;
    }
    weights[k / 4] = four;
  }
  const float norm = 1.0f / sum;
  for (int k = 0; k < step; k += 4) {
    FourFloats four = weights[k / 4];
    for (int c = 0; c < 4; ++c) four.value[c] *= norm;
    weights[k / 4] = four;
  }
  return last;
}

// The words (four bytes) of a source row that a block reads. Word 0 holds the block's first column.
struct Words {
  const std::uint8_t* source = nullptr;
  int stride = 0;
  int last = 0;        // last word that may be read
  int count = 0;       // number of words that the second phase makes
  int origin = 0;      // place of column 0 in a row of the tile, in floats
  bool inside = true;  // true if a blur reads no reflected column
};

// The shared memory of a block, and the part of the picture that it makes.
struct TileBlock {
  float* rows = nullptr;       // rows of a strip after the vertical pass: [height][pitch]
  float* weights_x = nullptr;  // [width][step_x]
  float* weights_y = nullptr;
  int* starts_x = nullptr;
  int* starts_y = nullptr;
  Box box;         // part of the picture
  int taps_x = 0;  // taps with weight: as many as the tile's, or one less
  int taps_y = 0;
  Words words;
};

PENSTOCK_HD TileBlock TileBlockOf(const Pass& pass, int block, float* shared) {
  const Tile& tile = pass.tile;
  TileBlock made;
  made.rows = shared;
  made.weights_x = made.rows + tile.height * tile.pitch;
  const int high = tile.height * tile.strips;
  made.weights_y = made.weights_x + tile.width * tile.step_x;
  made.starts_x = reinterpret_cast<int*>(made.weights_y + high * tile.step_y);
  made.starts_y = made.starts_x + tile.width;
  made.box.x = pass.kept.x + block % pass.blocks_x * tile.width;
  made.box.y = pass.kept.y + block / pass.blocks_x * high;
  made.box.width = Least(tile.width, pass.kept.x + pass.kept.width - made.box.x);
  made.box.height = Least(high, pass.kept.y + pass.kept.height - made.box.y);
  return made;
}

// What the threads of a block find in the first phase: bits that are combined with a bitwise or.
inline constexpr unsigned kLastTapX = 1;
inline constexpr unsigned kLastTapY = 2;

// First phase: finds where each column and each row of the tile reads, and with what weights.
// Returns bits for the axes whose last tap has weight.
template <bool kBlur>
PENSTOCK_HD unsigned PlaceTaps(const Pass& pass, const Memories& memories, const TileBlock& block,
                               int thread) {
  const Tile& tile = pass.tile;
  unsigned found = 0;
  for (int i = thread; i < tile.width + block.box.height; i += kThreads) {
    const bool column = i < tile.width;
    const int k = column ? i : i - tile.width;
    if (column && k >= block.box.width) continue;
    int* start = (column ? block.starts_x : block.starts_y) + k;
    const int at = (column ? block.box.x : block.box.y) + k;
    const int taps = column ? tile.taps_x : tile.taps_y;
    const int step = column ? tile.step_x : tile.step_y;
    auto* const weights =
        reinterpret_cast<FourFloats*>((column ? block.weights_x : block.weights_y) + k * step);
    const unsigned bit = column ? kLastTapX : kLastTapY;
    if (kBlur) {
      const float* from = memories.weights + pass.weights;
      *start = at - pass.radius;
      for (int tap = 0; tap < step; ++tap) {
        weights[tap / 4].value[tap % 4] = tap < taps ? from[tap] : 0.0f;
      }
      found |= bit;
    } else {
      const Axis& axis = column ? pass.x : pass.y;
      const Reach& reach = column ? pass.reach_x : pass.reach_y;
      const FirstTap tap = FirstTapOf(axis, reach, at);
      *start = tap.start;
      if (WeightsOf(axis, reach, tap, taps, step, weights)) found |= bit;
    }
  }
  return found;
}

// The strip of the block that begins `above` rows below the block's top. The block makes a strip
// between two barriers.
PENSTOCK_HD TileBlock StripOf(const Pass& pass, const TileBlock& block, int above) {
  TileBlock made = block;
  made.weights_y += above * pass.tile.step_y;
  made.starts_y += above;
  made.box.y += above;
  made.box.height = Least(pass.tile.height, block.box.height - above);
  return made;
}

PENSTOCK_HD int Reflected(int i, int n) {
  const int period = Most(1, 2 * (n - 1));
  i = (i % period + period) % period;
  return Least(i, period - i) % n;
}

// After the first phase: sets what the block reads. `last_x`, `last_y`: whether the last tap has
// weight in any column, or in any row, of the block. If not, that tap is left out: it would only
// add zeros.
template <bool kBlur>
PENSTOCK_HD void SetReads(const Pass& pass, const Memories& memories, bool last_x, bool last_y,
                          TileBlock* block) {
  block->taps_x = pass.tile.taps_x - (last_x ? 0 : 1);
  block->taps_y = pass.tile.taps_y - (last_y ? 0 : 1);
  const int a = block->starts_x[0];
  const int b = block->starts_x[block->box.width - 1];
  const int first = Least(a, b);
  // `columns` need a value, but only `readable` of them may be read: taps without weight may lie
  // beyond the picture, or beyond the part of it that is in memory.
  const int columns = Most(a, b) + block->taps_x - first;
  const int end = Least(pass.x.limit, pass.source.width - pass.x.base);
  const int readable = kBlur ? columns : Least(columns, end - first);
  Words& words = block->words;
  words.inside = !kBlur || (first >= 0 && first + columns <= pass.width);
  const int left = 3 * (first + (kBlur ? 0 : pass.x.base));
  const int shift = words.inside ? left & 3 : 0;
  words.source = SourceOf(pass, memories) + (left - shift);
  words.stride = static_cast<int>(pass.source.stride);
  words.last = (shift + 3 * readable + 3) / 4 - 1;
  words.count = (shift + 3 * columns + 3) / 4;
  words.origin = shift - 3 * first;
}

// The source row for a tap. A tap without weight gets any row that can be read.
template <bool kBlur>
PENSTOCK_HD int RowAt(const Pass& pass, int tap) {
  if (!kBlur) return Least(pass.y.base + tap, pass.source.height - 1);
  return tap >= 0 && tap < pass.height ? tap : Reflected(tap, pass.height);
}

}  // namespace penstock::cuda
