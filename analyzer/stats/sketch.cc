// SPDX-License-Identifier: Apache-2.0
#include "analyzer/stats/sketch.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "analyzer/stats/quantile.h"

namespace penstock::analyzer {
namespace {

constexpr int kSubBits = 6;  // 64 buckets for each doubling
constexpr std::size_t kSub = std::size_t{1} << kSubBits;
constexpr std::size_t kBuckets = (64 - kSubBits + 1) * kSub;

}  // namespace

// Each value below 64 ns has its own bucket. For larger values, the highest bit that is set and the
// six bits after it choose the bucket.
std::size_t DurationSketch::BucketOf(std::int64_t nanoseconds) {
  const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(nanoseconds, 0));
  if (value < kSub) return static_cast<std::size_t>(value);
  const int shift = static_cast<int>(std::bit_width(value)) - 1 - kSubBits;
  return (static_cast<std::size_t>(shift) + 1) * kSub +
         static_cast<std::size_t>((value >> shift) - kSub);
}

DurationSketch::Bucket DurationSketch::BoundsOf(std::size_t bucket) {
  if (bucket < kSub) return {static_cast<double>(bucket), 1};
  const auto shift = static_cast<int>(bucket / kSub) - 1;
  return {std::ldexp(static_cast<double>(kSub + bucket % kSub), shift), std::ldexp(1.0, shift)};
}

double DurationSketch::MiddleOf(std::size_t bucket) {
  const Bucket bounds = BoundsOf(bucket);
  return bounds.low + (bounds.width - 1) / 2;
}

void DurationSketch::Spill() {
  buckets_.assign(kBuckets, 0);
  for (const std::int64_t value : exact_) ++buckets_[BucketOf(value)];
  exact_ = {};
}

void DurationSketch::Add(std::int64_t nanoseconds) {
  ++count_;
  if (!buckets_.empty()) {
    ++buckets_[BucketOf(nanoseconds)];
    return;
  }
  exact_.push_back(nanoseconds);
  if (exact_.size() > kExact) Spill();
}

void DurationSketch::Merge(const DurationSketch& other) {
  if (other.buckets_.empty()) {
    for (const std::int64_t value : other.exact_) Add(value);
    return;
  }
  if (buckets_.empty()) Spill();
  count_ += other.count_;
  for (std::size_t i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
}

std::uint64_t DurationSketch::CountBelow(double seconds) const {
  const double limit = std::ceil(seconds * 1e9);  // values are whole nanoseconds
  std::uint64_t below = 0;
  for (const std::int64_t value : exact_) below += static_cast<double>(value) < limit ? 1 : 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    if (buckets_[i] == 0) continue;
    const Bucket bounds = BoundsOf(i);
    const double part = std::clamp((limit - bounds.low) / bounds.width, 0.0, 1.0);
    below += static_cast<std::uint64_t>(std::llround(part * static_cast<double>(buckets_[i])));
  }
  return below;
}

double DurationSketch::ShareAbove(double seconds) const {
  const double limit = seconds * 1e9;
  double above = 0;
  double all = 0;
  const auto add = [&](double value, std::uint64_t count) {
    const double time = value * static_cast<double>(count);
    all += time;
    if (value > limit) above += time;
  };
  for (const std::int64_t value : exact_) add(static_cast<double>(value), 1);
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    if (buckets_[i] > 0) add(MiddleOf(i), buckets_[i]);
  }
  return all > 0 ? above / all : 0;
}

double DurationSketch::Quantile(double p) const {
  if (count_ == 0) return 0;
  if (buckets_.empty()) {
    std::vector<double> sorted;
    sorted.reserve(exact_.size());
    for (const std::int64_t value : exact_) sorted.push_back(static_cast<double>(value) * 1e-9);
    std::sort(sorted.begin(), sorted.end());
    return analyzer::Quantile(sorted, p);
  }
  const double rank = std::clamp(p, 0.0, 1.0) * static_cast<double>(count_ - 1);
  double seen = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    seen += static_cast<double>(buckets_[i]);
    if (seen > rank) return MiddleOf(i) * 1e-9;
  }
  return MiddleOf(kBuckets - 1) * 1e-9;
}

std::vector<std::uint64_t> Histogram(std::span<const double> values, double low, double high,
                                     std::size_t bins) {
  if (bins == 0 || !(low < high)) return {};
  std::vector<std::uint64_t> counts(bins, 0);
  const double scale = static_cast<double>(bins) / (high - low);
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    const double position = std::clamp((value - low) * scale, 0.0, static_cast<double>(bins - 1));
    ++counts[static_cast<std::size_t>(position)];
  }
  return counts;
}

}  // namespace penstock::analyzer
