// SPDX-License-Identifier: Apache-2.0
#include "loader/augment/resample.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loader/augment/resample.cc"
#include <hwy/foreach_target.h>  // compiles the rest of this file once for each vector unit
//
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "loader/augment/rgb_simd.inc"
#include "loader/augment/row_writer.inc"

HWY_BEFORE_NAMESPACE();
namespace penstock::loader {
namespace HWY_NAMESPACE {
namespace {

// -------------------------------------------------------------------------------------- vertical

// How far ahead of its use each row is prefetched, in bytes. The CPU's own prefetcher does not
// follow so many rows that are read in turns. With this prefetch a 4K picture takes half the time.
constexpr std::size_t kAhead = 640;

// out = (old `next`, if kCarry) + sum of a[i] * rows[i]; if kNext, next = sum of b[i] * rows[i].
// Computing both at once converts each source pixel to float once, although two outputs need it.
template <bool kCarry, bool kNext>
void AddRows(const std::uint8_t* const* HWY_RESTRICT rows, std::size_t count,
             const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, std::size_t tiles,
             std::size_t pitch, float* HWY_RESTRICT out, float* HWY_RESTRICT next) {
  const DF df;
  const RgbLoader loader;
  for (std::size_t tile = 0; tile < tiles; ++tile) {
    const std::size_t x = tile * kLanes;
    VF out_r = kCarry ? hn::Load(df, next + x) : hn::Zero(df);
    VF out_g = kCarry ? hn::Load(df, next + pitch + x) : hn::Zero(df);
    VF out_b = kCarry ? hn::Load(df, next + 2 * pitch + x) : hn::Zero(df);
    VF next_r = hn::Zero(df);
    VF next_g = hn::Zero(df);
    VF next_b = hn::Zero(df);
    for (std::size_t i = 0; i < count; ++i) {
      hwy::Prefetch(rows[i] + 3 * x + kAhead);
      const Rgb pixels = loader.Load(rows[i] + 3 * x);
      const VF weight = hn::Set(df, a[i]);
      out_r = hn::MulAdd(weight, pixels.r, out_r);
      out_g = hn::MulAdd(weight, pixels.g, out_g);
      out_b = hn::MulAdd(weight, pixels.b, out_b);
      if constexpr (kNext) {
        const VF weight_next = hn::Set(df, b[i]);
        next_r = hn::MulAdd(weight_next, pixels.r, next_r);
        next_g = hn::MulAdd(weight_next, pixels.g, next_g);
        next_b = hn::MulAdd(weight_next, pixels.b, next_b);
      }
    }
    hn::Store(out_r, df, out + x);
    hn::Store(out_g, df, out + pitch + x);
    hn::Store(out_b, df, out + 2 * pitch + x);
    if constexpr (kNext) {
      hn::Store(next_r, df, next + x);
      hn::Store(next_g, df, next + pitch + x);
      hn::Store(next_b, df, next + 2 * pitch + x);
    }
  }
}

// ------------------------------------------------------------------------------------ horizontal

// Two or four vectors of a row, from `first` on, in which Lookup() finds any pixel by its index.
template <std::size_t kWindow>
struct Window {
  VF part[kWindow];

  explicit HWY_INLINE Window(const float* first) {
    for (std::size_t i = 0; i < kWindow; ++i) part[i] = hn::LoadU(DF(), first + i * kLanes);
  }
};

#if HWY_TARGET <= HWY_AVX3 && HWY_MAX_BYTES == 64
HWY_INLINE VF LookupTwo(VF low, VF high, VI index) {
  return VF{_mm512_permutex2var_ps(low.raw, index.raw, high.raw)};  // takes the index modulo 32
}
#else
// Requires: index < 2 * kLanes. So windows of four do not exist with this version.
HWY_INLINE VF LookupTwo(VF low, VF high, VI index) {
  const DF df;
  const DI di;
  const auto lane = hn::IndicesFromVec(df, hn::And(index, hn::Set(di, kLanes - 1)));
  const auto is_low = hn::RebindMask(df, index < hn::Set(di, kLanes));
  return hn::IfThenElse(is_low, hn::TableLookupLanes(low, lane), hn::TableLookupLanes(high, lane));
}
#endif

template <std::size_t kWindow>
HWY_INLINE VF Lookup(const Window<kWindow>& window, VI index) {
  static_assert(kWindow == 2 || (kWindow == 4 && kTwoTables));
  const VF first = LookupTwo(window.part[0], window.part[1], index);
  if constexpr (kWindow == 2) {
    return first;
  } else {
    const auto is_low = hn::RebindMask(DF(), index < hn::Set(DI(), 2 * kLanes));
    return hn::IfThenElse(is_low, first, LookupTwo(window.part[2], window.part[3], index));
  }
}

template <std::size_t kWindow>
void RowByLookup(const AxisTaps& taps, const float* HWY_RESTRICT row, std::size_t pitch,
                 std::size_t y, const RowWriter& writer) {
  const DF df;
  const DI di;
  const auto count = static_cast<std::size_t>(taps.axis.count);
  for (std::size_t x = 0; x < count; x += kLanes) {
    const std::size_t group = x / kLanes;
    const std::int32_t base = taps.bases[group];
    const float* weights = taps.weights.data() + group * taps.stride * kLanes;
    const float* from = row + (base - taps.begin);
    const Window<kWindow> r(from);
    const Window<kWindow> g(from + pitch);
    const Window<kWindow> b(from + 2 * pitch);
    VI index = hn::Load(di, taps.start.data() + x) - hn::Set(di, base);
    Rgb sum = {hn::Zero(df), hn::Zero(df), hn::Zero(df)};
    for (std::size_t k = 0; k < taps.taps; ++k) {
      const VF weight = hn::Load(df, weights + k * kLanes);
      sum.r = hn::MulAdd(weight, Lookup(r, index), sum.r);
      sum.g = hn::MulAdd(weight, Lookup(g, index), sum.g);
      sum.b = hn::MulAdd(weight, Lookup(b, index), sum.b);
      index = index + hn::Set(di, 1);
    }
    writer.Write(y, x, sum);
  }
}

#if HWY_TARGET == HWY_SCALAR
template <bool>
void RowByDots(const AxisTaps& taps, const float* HWY_RESTRICT row, std::size_t pitch,
               std::size_t y, const RowWriter& writer) {
  const DF df;
  for (std::size_t x = 0; x < static_cast<std::size_t>(taps.axis.count); ++x) {
    const float* from = row + (taps.start[x] - taps.begin);
    float sum[3] = {0, 0, 0};
    for (std::size_t k = 0; k < taps.taps; ++k) {
      const float weight = taps.dots[x * taps.taps + k];
      for (std::size_t c = 0; c < 3; ++c) sum[c] += weight * from[c * pitch + k];
    }
    writer.Write(y, x, {hn::Set(df, sum[0]), hn::Set(df, sum[1]), hn::Set(df, sum[2])});
  }
}
#else
// The sum of the 128-bit blocks of a vector.
HWY_INLINE hn::Vec<hn::Full128<float> > SumBlocks(hn::Vec<hn::Full128<float> > v) {
  return v;
}
template <class V>
HWY_INLINE hn::Vec<hn::Full128<float> > SumBlocks(V v) {
  const hn::Half<hn::DFromV<V> > half;
  return SumBlocks(hn::LowerHalf(half, v) + hn::UpperHalf(half, v));
}
// Sums the lanes of each of four vectors; lane i of the result is the sum of the i-th vector.
HWY_INLINE hn::Vec<hn::Full128<float> > SumFour(VF a, VF b, VF c, VF d) {
  const DF df;
  const hn::Repartition<double, DF> dd;
  const auto ab = hn::BitCast(dd, hn::InterleaveLower(df, a, b) + hn::InterleaveUpper(df, a, b));
  const auto cd = hn::BitCast(dd, hn::InterleaveLower(df, c, d) + hn::InterleaveUpper(df, c, d));
  return SumBlocks(hn::BitCast(df, hn::InterleaveLower(dd, ab, cd)) +
                   hn::BitCast(df, hn::InterleaveUpper(dd, ab, cd)));
}

// Returns kCount sums: lane i is the sum of the lanes of part(first + i). The sums stay in
// registers. If they were stored one by one, loading them as a vector would wait for all these
// stores.
template <class F, std::size_t kCount = kLanes>
HWY_INLINE hn::Vec<hn::CappedTag<float, kCount> > SumAll(F part, std::size_t first = 0) {
  if constexpr (kCount == 4) {
    return SumFour(part(first), part(first + 1), part(first + 2), part(first + 3));
  } else {
    const auto lower = SumAll<F, kCount / 2>(part, first);
    const auto upper = SumAll<F, kCount / 2>(part, first + kCount / 2);
    return hn::Combine(hn::CappedTag<float, kCount>(), upper, lower);
  }
}

template <bool kOneVector>
void RowByDots(const AxisTaps& taps, const float* HWY_RESTRICT row, std::size_t pitch,
               std::size_t y, const RowWriter& writer) {
  const DF df;
  const auto count = static_cast<std::size_t>(taps.axis.count);
  const std::size_t padded = kOneVector ? kLanes : (taps.taps + kLanes - 1) / kLanes * kLanes;
  const float* dots = taps.dots.data();
  for (std::size_t x = 0; x < count; x += kLanes) {
    const auto sums = [&](const float* plane) HWY_ATTR {
      return SumAll([&](std::size_t i) HWY_ATTR {
        const float* from = plane + taps.start[x + i];
        const float* weights = dots + (x + i) * padded;
        VF sum = hn::LoadU(df, from) * hn::Load(df, weights);
        for (std::size_t k = kLanes; !kOneVector && k < padded; k += kLanes) {
          sum = hn::MulAdd(hn::LoadU(df, from + k), hn::Load(df, weights + k), sum);
        }
        return sum;
      });
    };
    const float* red = row - taps.begin;
    writer.Write(y, x, {sums(red), sums(red + pitch), sums(red + 2 * pitch)});
  }
}
#endif

// ----------------------------------------------------------------------------------- both passes

// Rows of the source from which `bytes` bytes can be read, even where the picture ends earlier.
class SafeRows {
 public:
  SafeRows(const ImageView& view, int left, int top, std::size_t bytes, Buffer<std::uint8_t>& tail)
      : first_(view.pixels + 3 * static_cast<std::ptrdiff_t>(left) + top * view.stride),
        stride_(view.stride),
        bytes_(static_cast<std::ptrdiff_t>(bytes)) {
    const std::uint8_t* end = view.pixels + (view.height - 1) * view.stride + 3 * view.width;
    const std::ptrdiff_t rows = view.height - top;
    // first_ + row * stride + bytes <= end
    const std::ptrdiff_t room = end - first_ - bytes_;
    safe_ = room < 0 ? 0 : std::min(rows, room / stride_ + 1);
    if (safe_ == rows) return;
    copies_ = tail.Reserve(static_cast<std::size_t>((rows - safe_) * bytes_));
    for (std::ptrdiff_t row = safe_; row < rows; ++row) {
      const std::uint8_t* from = first_ + row * stride_;
      std::memcpy(copies_ + (row - safe_) * bytes_, from,
                  static_cast<std::size_t>(std::min(bytes_, end - from)));
    }
  }

  [[nodiscard]] const std::uint8_t* operator()(std::ptrdiff_t row) const {
    return row < safe_ ? first_ + row * stride_ : copies_ + (row - safe_) * bytes_;
  }

 private:
  const std::uint8_t* first_;
  std::ptrdiff_t stride_;
  std::ptrdiff_t bytes_;
  std::ptrdiff_t safe_ = 0;
  std::uint8_t* copies_ = nullptr;
};

// Source rows low to high - 1.
struct RowRange {
  int low = 0;
  int high = 0;
};

// The weights of the source rows in an output row y.
class RowWeights {
 public:
  explicit RowWeights(const AxisTaps& taps) : taps_(taps) {}

  [[nodiscard]] float Weight(int y, int row) const {
    const auto i = static_cast<std::size_t>(y);
    const auto k = static_cast<std::size_t>(row - taps_.start[i]);
    return taps_.weights[(i / kLanes * taps_.stride + k) * kLanes + i % kLanes];
  }

  // The source rows that have weight in output y; an empty range beyond the last output.
  [[nodiscard]] RowRange Range(int y) const {
    if (y >= taps_.axis.count) return {};
    RowRange range;
    range.low = taps_.start[static_cast<std::size_t>(y)];
    range.high = std::min(range.low + static_cast<int>(taps_.taps), taps_.axis.limit);
    while (range.high - 1 > range.low && Weight(y, range.high - 1) == 0) --range.high;
    while (range.low + 1 < range.high && Weight(y, range.low) == 0) ++range.low;
    return range;
  }

 private:
  const AxisTaps& taps_;
};

void WriteRow(const AxisTaps& taps, const float* row, std::size_t pitch, std::size_t y,
              const RowWriter& writer) {
  switch (taps.method) {
    case RowMethod::kLookup2:
      RowByLookup<2>(taps, row, pitch, y, writer);
      break;
    case RowMethod::kLookup4:
      if constexpr (kTwoTables) RowByLookup<4>(taps, row, pitch, y, writer);  // chosen only then
      break;
    case RowMethod::kDot:
      if (taps.taps <= kLanes) {
        RowByDots<true>(taps, row, pitch, y, writer);
      } else {
        RowByDots<false>(taps, row, pitch, y, writer);
      }
      break;
  }
}

void ResampleRows(const ResampleJob& job, const AxisTaps& across, const AxisTaps& down,
                  bool flip_rows, ResampleScratch& scratch) {
  const std::size_t tiles =
      (static_cast<std::size_t>(across.end - across.begin) + kLanes - 1) / kLanes;
  // Planes have room at the end: a window of four vectors may begin at the last pixel.
  const std::size_t pitch = (tiles + 5) * kLanes;
  float* row = scratch.row.Reserve(3 * pitch);
  float* next = scratch.next.Reserve(3 * pitch);
  const SafeRows source(job.source, job.x.base + across.begin, job.y.base + down.begin,
                        3 * kLanes * (tiles - 1) + kRgbBytes, scratch.tail);
  const RowWriter writer(job);
  const RowWeights vertical(down);
  const std::uint8_t** pointers = scratch.rows.Reserve(down.taps);
  float* weights = scratch.row_weights.Reserve(2 * down.taps);
  float* weights_next = weights + down.taps;

  const int count = job.y.count;
  RowRange now = vertical.Range(0);
  RowRange then = vertical.Range(1);
  bool carry = false;  // `next` holds the part of output y from the rows before `done`
  int done = 0;
  for (int y = 0; y < count; ++y) {
    const int from = carry ? done : now.low;
    // Begins the next output with these rows if it needs some of them and none before them.
    const bool share = y + 1 < count && then.low >= from && then.low < now.high;
    std::size_t n = 0;
    for (int r = from; r < now.high; ++r, ++n) {
      pointers[n] = source(r - down.begin);
      weights[n] = vertical.Weight(y, r);
      weights_next[n] = share && r >= then.low ? vertical.Weight(y + 1, r) : 0.0f;
    }
    const auto add = carry ? (share ? AddRows<true, true> : AddRows<true, false>)
                           : (share ? AddRows<false, true> : AddRows<false, false>);
    add(pointers, n, weights, weights_next, tiles, pitch, row, next);
    const auto to = static_cast<std::size_t>(flip_rows ? count - 1 - y : y);
    WriteRow(across, row, pitch, to, writer);
    carry = share;
    done = now.high;
    now = then;
    then = vertical.Range(y + 2);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace penstock::loader
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::loader {
namespace {

HWY_EXPORT(ResampleRows);

}  // namespace

bool Resample(const ResampleJob& job, ResampleScratch& scratch) {
  // Output rows are computed from the top to the bottom of the source. A vertical flip only changes
  // where they are written.
  Axis axis_down = job.y;
  axis_down.mirrored = false;
  const AxisTaps& across = scratch.horizontal.Get(job.x, false);
  const AxisTaps& down = scratch.vertical.Get(axis_down, true);
  const bool inside = job.x.base + across.begin >= 0 && job.y.base + down.begin >= 0 &&
                      job.x.base + across.end <= job.source.width &&
                      job.y.base + down.end <= job.source.height;
  if (!inside) return false;
  HWY_DYNAMIC_DISPATCH(ResampleRows)(job, across, down, job.y.mirrored, scratch);
  return true;
}

}  // namespace penstock::loader
#endif  // HWY_ONCE
