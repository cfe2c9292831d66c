// SPDX-License-Identifier: Apache-2.0
//
// What one thread does in passes over tiles: resizes and blurs. A kernel is these functions with
// barriers between them; so is the emulation on the CPU, which calls them for one thread after the
// other. `lane` and `row` are the thread's place in its block of kLanes x kRows.
#pragma once

#include <cstdint>

#include "cuda/finish_body.h"
#include "cuda/host_device.h"
#include "cuda/passes.h"
#include "cuda/pixel_math.h"

namespace penstock::cuda {

PENSTOCK_HD int Reflected(int i, int n) {
  const int period = Most(1, 2 * (n - 1));
  i = (i % period + period) % period;
  return Least(i, period - i) % n;
}

// First pixel with weight of output `i` along the axis, and its centre from that of the output.
struct FirstTap {
  int start = 0;
  float distance = 0;
};

PENSTOCK_HD double SupportOf(const Axis& axis) {
  if (axis.filter == Filter::kNearest) return 0;
  return axis.filter == Filter::kBilinear && axis.ratio > 1 ? axis.ratio : 1.0;
}

PENSTOCK_HD FirstTap FirstTapOf(const Axis& axis, int i) {
  const double support = SupportOf(axis);
  const int at = axis.mirrored ? axis.count - 1 - i : i;
  const double centre = axis.offset + (axis.first + at + 0.5) * axis.ratio;
  const double shift = support == 0 ? 0.0 : 0.5 - support;
  double first = floor(centre + shift);
  first = first < 0 ? 0 : first;
  first = first > axis.limit - 1 ? axis.limit - 1 : first;
  return {static_cast<int>(first), static_cast<float>(first + 0.5 - centre)};
}

// Weights of the output that begins at `tap`, normalised; zeros behind the last one.
PENSTOCK_HD void WeightsOf(const Axis& axis, const FirstTap& tap, int taps, float* weights) {
  const double support = SupportOf(axis);
  const float slope = support == 0 ? 0.0f : static_cast<float>(1 / support);
  float distance = tap.distance;
  float sum = 0;
  for (int k = 0; k < taps; ++k) {
    float weight = FusedAdd(-fabsf(distance), slope, 1.0f);
    weight = tap.start + k < axis.limit && weight > 0 ? weight : 0.0f;
    weights[k] = weight;
    sum += weight;
    distance += 1.0f;
  }
  const float norm = 1.0f / sum;
  for (int k = 0; k < taps; ++k) weights[k] *= norm;
}

// The shared memory of a block, and which part of the picture the block makes.
struct TileBlock {
  float* rows = nullptr;       // [height][pitch] after the vertical pass
  float* weights_x = nullptr;  // [width][taps_x]
  float* weights_y = nullptr;
  int* starts_x = nullptr;
  int* starts_y = nullptr;
  Box box;  // of the picture
};

PENSTOCK_HD TileBlock TileBlockOf(const Pass& pass, int block, float* shared) {
  const Tile& tile = pass.tile;
  TileBlock made;
  made.rows = shared;
  made.weights_x = made.rows + tile.height * tile.pitch;
  made.weights_y = made.weights_x + tile.width * tile.taps_x;
  made.starts_x = reinterpret_cast<int*>(made.weights_y + tile.height * tile.taps_y);
  made.starts_y = made.starts_x + tile.width;
  made.box.x = pass.kept.x + block % pass.blocks_x * tile.width;
  made.box.y = pass.kept.y + block / pass.blocks_x * tile.height;
  made.box.width = Least(tile.width, pass.kept.x + pass.kept.width - made.box.x);
  made.box.height = Least(tile.height, pass.kept.y + pass.kept.height - made.box.y);
  return made;
}

// First phase: where each column and each row of the tile reads, and with what weights.
PENSTOCK_HD void PlaceTaps(const Pass& pass, const Memories& memories, const TileBlock& block,
                           int thread) {
  const Tile& tile = pass.tile;
  for (int i = thread; i < tile.width + tile.height; i += kThreads) {
    const bool column = i < tile.width;
    const int k = column ? i : i - tile.width;
    if (k >= (column ? block.box.width : block.box.height)) continue;
    int* start = (column ? block.starts_x : block.starts_y) + k;
    const int at = (column ? block.box.x : block.box.y) + k;
    if (pass.gather == Gather::kBlur) {
      *start = at - pass.radius;
      continue;
    }
    const Axis& axis = column ? pass.x : pass.y;
    const FirstTap tap = FirstTapOf(axis, at);
    *start = tap.start;
    const int taps = column ? tile.taps_x : tile.taps_y;
    WeightsOf(axis, tap, taps, (column ? block.weights_x : block.weights_y) + k * taps);
  }
  if (pass.gather != Gather::kBlur) return;
  const float* weights = memories.weights + pass.weights;
  for (int i = thread; i < (tile.width + tile.height) * tile.taps_x; i += kThreads) {
    block.weights_x[i] = weights[i % tile.taps_x];
  }
}

// Columns of the source that the tile reads: the first of them, and how many.
struct Columns {
  int first = 0;
  int count = 0;
};

PENSTOCK_HD Columns ColumnsOf(const Pass& pass, const TileBlock& block) {
  const int a = block.starts_x[0];
  const int b = block.starts_x[block.box.width - 1];
  const int first = Least(a, b);
  int end = Most(a, b) + pass.tile.taps_x;
  if (pass.gather == Gather::kTiled) {
    // Taps without weight may lie behind the picture, or behind the part of it that is there.
    end = Least(Least(end, pass.x.limit), pass.source.width - pass.x.base);
  }
  return {first, end - first};
}

// Byte of the first column in the words that are read: 0 to 3.
PENSTOCK_HD int ShiftOf(const Pass& pass, const Columns& columns) {
  return pass.gather == Gather::kBlur ? 0 : (3 * (pass.x.base + columns.first)) & 3;
}

PENSTOCK_HD void BlurDown(const Pass& pass, const Memories& memories, const TileBlock& block,
                          int lane, int row) {
  const std::uint8_t* source = SourceOf(pass, memories);
  const Columns columns = ColumnsOf(pass, block);
  for (int j = row; j < block.box.height; j += kRows) {
    const float* weights = block.weights_y + j * pass.tile.taps_y;
    for (int i = lane; i < columns.count; i += kLanes) {
      const int column = Reflected(columns.first + i, pass.width);
      Rgb sum;
      for (int k = 0; k < pass.tile.taps_y; ++k) {
        const int from = Reflected(block.starts_y[j] + k, pass.height);
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

// Second phase: source rows to rows of the tile, four bytes at a time, whichever channel they are.
PENSTOCK_HD void TileDown(const Pass& pass, const Memories& memories, const TileBlock& block,
                          int lane, int row) {
  if (pass.gather == Gather::kBlur) {
    BlurDown(pass, memories, block, lane, row);
    return;
  }
  const Columns columns = ColumnsOf(pass, block);
  const int shift = ShiftOf(pass, columns);
  const int words = (shift + 3 * columns.count + 3) / 4;
  const std::int64_t left = 3 * std::int64_t{pass.x.base + columns.first} - shift;
  const std::uint8_t* source = SourceOf(pass, memories) + left;
  for (int j = row; j < block.box.height; j += kRows) {
    const float* weights = block.weights_y + j * pass.tile.taps_y;
    const int first = pass.y.base + block.starts_y[j];
    for (int i = lane; i < words; i += kLanes) {
      float sum[4] = {0, 0, 0, 0};
      for (int k = 0; k < pass.tile.taps_y; ++k) {
        const float weight = weights[k];
        if (weight == 0) continue;  // may lie outside of the source
        const std::uint32_t word =
            reinterpret_cast<const std::uint32_t*>(source + (first + k) * pass.source.stride)[i];
        sum[0] = FusedAdd(weight, static_cast<float>(word & 0xFFU), sum[0]);
        sum[1] = FusedAdd(weight, static_cast<float>(word >> 8 & 0xFFU), sum[1]);
        sum[2] = FusedAdd(weight, static_cast<float>(word >> 16 & 0xFFU), sum[2]);
        sum[3] = FusedAdd(weight, static_cast<float>(word >> 24), sum[3]);
      }
      float* to = block.rows + j * pass.tile.pitch + 4 * i;
      for (int c = 0; c < 4; ++c) to[c] = sum[c];
    }
  }
}

// Third phase: rows of the tile to pixels. Returns the sum of their greys.
PENSTOCK_HD unsigned TileAcross(const Pass& pass, const Memories& memories, const TileBlock& block,
                                int lane, int row) {
  const Columns columns = ColumnsOf(pass, block);
  const int shift = ShiftOf(pass, columns);
  unsigned grey = 0;
  for (int j = row; j < block.box.height; j += kRows) {
    const float* values = block.rows + j * pass.tile.pitch + shift;
    for (int i = lane; i < block.box.width; i += kLanes) {
      const float* weights = block.weights_x + i * pass.tile.taps_x;
      const int start = block.starts_x[i] - columns.first;
      const int taps = Least(pass.tile.taps_x, columns.count - start);
      Rgb sum;
      for (int k = 0; k < taps; ++k) {
        const float* pixel = values + 3 * (start + k);
        sum.r = FusedAdd(weights[k], pixel[0], sum.r);
        sum.g = FusedAdd(weights[k], pixel[1], sum.g);
        sum.b = FusedAdd(weights[k], pixel[2], sum.b);
      }
      grey += FinishPixel(pass, memories, block.box.x + i, block.box.y + j, sum);
    }
  }
  return grey;
}

}  // namespace penstock::cuda
