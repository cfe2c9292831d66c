// SPDX-License-Identifier: Apache-2.0
#include "loader/set/field.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace penstock::loader {
namespace {

// The plane enlarged to twice its size and cut to width x height: bilinear, with half-pixel
// centres.
Plane Enlarged(const Plane& small, int width, int height) {
  Plane large(width, height, 0);
  for (int y = 0; y < height; ++y) {
    const int nearest = std::min(y / 2, small.height - 1);
    const int other = std::clamp(nearest + ((y & 1) != 0 ? 1 : -1), 0, small.height - 1);
    const float* a = small.row(nearest);
    const float* b = small.row(other);
    float* out = large.row(y);
    for (int x = 0; x < width; ++x) {
      const int near_x = std::min(x / 2, small.width - 1);
      const int far_x = std::clamp(near_x + ((x & 1) != 0 ? 1 : -1), 0, small.width - 1);
      out[x] = 0.75f * (0.75f * a[near_x] + 0.25f * a[far_x]) +
               0.25f * (0.75f * b[near_x] + 0.25f * b[far_x]);
    }
  }
  return large;
}

void Standardise(Plane& plane) {
  double sum = 0;
  double squares = 0;
  for (const float value : plane.values) {
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  const auto count = static_cast<double>(plane.values.size());
  const double mean = sum / count;
  const double variance = squares / count - mean * mean;
  const double scale = variance > 0 ? 1 / std::sqrt(variance) : 0;
  for (float& value : plane.values) value = static_cast<float>((value - mean) * scale);
}

// One pass of the separable filter along rows, written transposed. Two passes make a blur.
Plane FilteredTransposed(const Plane& in, const std::vector<float>& taps) {
  const int radius = static_cast<int>(taps.size() / 2);
  Plane out(in.height, in.width, 0);
  std::vector<float> padded(static_cast<std::size_t>(in.width + 2 * radius));
  std::vector<float> sum(static_cast<std::size_t>(in.width));
  for (int y = 0; y < in.height; ++y) {
    const float* row = in.row(y);
    std::fill_n(padded.begin(), radius, row[0]);
    std::copy_n(row, in.width, padded.begin() + radius);
    std::fill_n(padded.end() - radius, radius, row[in.width - 1]);
    std::fill(sum.begin(), sum.end(), 0.0f);
    for (std::size_t tap = 0; tap < taps.size(); ++tap) {
      const float weight = taps[tap];
      const float* from = padded.data() + tap;
      for (std::size_t x = 0; x < sum.size(); ++x) sum[x] += weight * from[x];
    }
    for (int x = 0; x < in.width; ++x) out.row(x)[y] = sum[static_cast<std::size_t>(x)];
  }
  return out;
}

}  // namespace

Plane NaturalField(Random& random, int width, int height, double exponent) {
  int level = 0;
  while ((std::max(width, height) >> level) > 2) ++level;
  Plane field(1, 1, 0);
  for (; level >= 0; --level) {
    field = Enlarged(field, (width >> level) + 1, (height >> level) + 1);
    // Octave k has cells of 2^k pixels. Equal variance in every octave gives an exponent of 1.
    const auto amplitude = static_cast<float>(std::exp2(level * (exponent - 1)) * std::sqrt(12.0));
    for (float& value : field.values) {
      value += amplitude * (static_cast<float>(random.Next()) * 0x1p-32f - 0.5f);
    }
  }
  Plane cut(width, height, 0);
  for (int y = 0; y < height; ++y) std::copy_n(field.row(y), width, cut.row(y));
  Standardise(cut);
  return cut;
}

void Blur(Plane& plane, double sigma) {
  const int radius = std::max(1, static_cast<int>(std::ceil(3 * sigma)));
  std::vector<float> taps;
  double total = 0;
  for (int i = -radius; i <= radius; ++i) total += std::exp(-0.5 * i * i / (sigma * sigma));
  for (int i = -radius; i <= radius; ++i) {
    taps.push_back(static_cast<float>(std::exp(-0.5 * i * i / (sigma * sigma)) / total));
  }
  plane = FilteredTransposed(FilteredTransposed(plane, taps), taps);
}

}  // namespace penstock::loader
