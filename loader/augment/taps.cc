// SPDX-License-Identifier: Apache-2.0
#include "loader/augment/taps.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loader/augment/taps.cc"
#include <hwy/foreach_target.h>  // compiles the rest of this file once for each vector unit

#include <hwy/highway.h>

#include "loader/augment/rgb_simd.inc"

HWY_BEFORE_NAMESPACE();
namespace penstock::loader {
namespace HWY_NAMESPACE {
namespace {

struct Kernel {
  double support;
  std::size_t stride;  // at least the number of taps of any output
};

Kernel KernelOf(const Axis& axis) {
  if (axis.filter == Filter::kNearest) return {0, 1};
  const double support = axis.filter == Filter::kBilinear ? std::max(1.0, axis.ratio) : 1.0;
  return {support, static_cast<std::size_t>(std::ceil(2 * support)) + 1};
}

// Sets the first tap of each output, and its distance from the output's centre.
void PlaceTaps(const Axis& axis, double support, AxisTaps& taps) {
  const auto count = static_cast<std::size_t>(axis.count);
  const std::size_t padded = (count + kLanes - 1) / kLanes * kLanes;
  std::int32_t* HWY_RESTRICT start = taps.start.Reserve(padded);
  float* HWY_RESTRICT phase = taps.phase.Reserve(padded);
  const double from = axis.mirrored ? axis.first + axis.count - 0.5 : axis.first + 0.5;
  const double step = axis.mirrored ? -1.0 : 1.0;
  const double last = axis.limit - 1;
  for (std::size_t i = 0; i < count; ++i) {
    const double centre = axis.offset + (from + step * static_cast<double>(i)) * axis.ratio;
    // For nearest the first tap is floor(centre), else floor(centre - support + 1/2), as in Pillow.
    const double shift = support == 0 ? 0.0 : 0.5 - support;
    const double first = std::min(std::max(std::floor(centre + shift), 0.0), last);
    start[i] = static_cast<std::int32_t>(first);
    phase[i] = static_cast<float>(first + 0.5 - centre);
  }
  std::fill(start + count, start + padded, start[count - 1]);
  std::fill(phase + count, phase + padded, phase[count - 1]);
}

void ComputeWeights(const Axis& axis, const Kernel& kernel, AxisTaps& taps) {
  const DF df;
  const DI di;
  const auto count = static_cast<std::size_t>(axis.count);
  const std::size_t groups = (count + kLanes - 1) / kLanes;
  float* HWY_RESTRICT weights = taps.weights.Reserve(groups * kernel.stride * kLanes);
  const VF one = hn::Set(df, 1.0f);
  const VF slope = hn::Set(df, kernel.support == 0 ? 0.0f : static_cast<float>(1 / kernel.support));
  const VI limit = hn::Set(di, axis.limit);
  taps.taps = 1;
  for (std::size_t g = 0; g < groups; ++g) {
    float* HWY_RESTRICT group = weights + g * kernel.stride * kLanes;
    VF distance = hn::LoadU(df, taps.phase.data() + g * kLanes);
    VI source = hn::LoadU(di, taps.start.data() + g * kLanes);
    VF sum = hn::Zero(df);
    for (std::size_t k = 0; k < kernel.stride; ++k) {
      const VF triangle = hn::Max(hn::NegMulAdd(hn::Abs(distance), slope, one), hn::Zero(df));
      const VF weight = hn::IfThenElseZero(hn::RebindMask(df, source < limit), triangle);
      hn::StoreU(weight, df, group + k * kLanes);
      if (!hn::AllTrue(df, weight == hn::Zero(df))) taps.taps = std::max(taps.taps, k + 1);
      sum = sum + weight;
      distance = distance + one;
      source = source + hn::Set(di, 1);
    }
    const VF norm = one / sum;  // never 0: one tap is at most half a pixel away
    for (std::size_t k = 0; k < kernel.stride; ++k) {
      hn::StoreU(hn::LoadU(df, group + k * kLanes) * norm, df, group + k * kLanes);
    }
  }
}

// Chooses how the row kernel reads, by the first pixel and the reach of each vector of outputs.
void ChooseRowMethod(AxisTaps& taps) {
  const auto count = static_cast<std::size_t>(taps.axis.count);
  const std::size_t groups = (count + kLanes - 1) / kLanes;
  std::int32_t* bases = taps.bases.Reserve(groups);
  std::size_t reach = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    const std::int32_t* start = taps.start.data() + g * kLanes;
    const auto [low, high] = std::minmax(start[0], start[kLanes - 1]);  // monotonic
    bases[g] = low;
    reach = std::max(reach, static_cast<std::size_t>(high - low) + taps.taps);
  }
  if (reach <= 2 * kLanes) {
    taps.method = RowMethod::kLookup2;
    return;
  }
  if (kTwoTables && reach <= 4 * kLanes) {
    taps.method = RowMethod::kLookup4;
    return;
  }
  taps.method = RowMethod::kDot;
  const std::size_t padded = (taps.taps + kLanes - 1) / kLanes * kLanes;
  float* dots = taps.dots.Reserve(groups * kLanes * padded);
  for (std::size_t i = 0; i < groups * kLanes; ++i) {
    const float* weights = taps.weights.data() + i / kLanes * taps.stride * kLanes + i % kLanes;
    for (std::size_t k = 0; k < padded; ++k) {
      dots[i * padded + k] = k < taps.taps ? weights[k * kLanes] : 0.0f;
    }
  }
}

void ComputeTaps(const Axis& axis, bool rows, AxisTaps& taps) {
  const Kernel kernel = KernelOf(axis);
  taps.axis = axis;
  taps.lanes = kLanes;
  taps.stride = kernel.stride;
  PlaceTaps(axis, kernel.support, taps);
  ComputeWeights(axis, kernel, taps);
  const std::int32_t* start = taps.start.data();
  const auto [low, high] = std::minmax(start[0], start[axis.count - 1]);
  taps.begin = low;
  taps.end = std::min(high + static_cast<int>(taps.taps), axis.limit);
  if (!rows) ChooseRowMethod(taps);
}

std::size_t Lanes() {
  return kLanes;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace penstock::loader
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::loader {
namespace {

HWY_EXPORT(ComputeTaps);
HWY_EXPORT(Lanes);

}  // namespace

const AxisTaps& TapCache::Get(const Axis& axis, bool rows) {
  const std::size_t lanes = HWY_DYNAMIC_DISPATCH(Lanes)();
  for (std::size_t i = 0; i < kEntries; ++i) {
    const AxisTaps& entry = entries_[i];
    if (entry.lanes == lanes && rows_[i] == rows && entry.axis == axis) return entry;
  }
  AxisTaps& entry = entries_[next_];
  rows_[next_] = rows;
  next_ = (next_ + 1) % kEntries;
  HWY_DYNAMIC_DISPATCH(ComputeTaps)(axis, rows, entry);
  return entry;
}

}  // namespace penstock::loader
#endif  // HWY_ONCE
