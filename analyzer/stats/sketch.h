// SPDX-License-Identifier: Apache-2.0
//
// Quantiles of many durations in bounded memory. They are exact for few values, and come from a
// logarithmic histogram for more. A value type; not safe for concurrent writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace penstock::analyzer {

// Durations in nanoseconds. Up to kExact values, every quantile is exact (type 7). For more values,
// they are counted in 64 buckets for each doubling. A quantile is then one of the values, with an
// error of at most 0.8 %. There is no interpolation between two values.
class DurationSketch {
 public:
  static constexpr std::size_t kExact = 4096;

  void Add(std::int64_t nanoseconds);
  void Merge(const DurationSketch& other);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  // Units: seconds. 0 if empty.
  [[nodiscard]] double Quantile(double p) const;
  // The number of values below `seconds`. Exact up to kExact values; beyond that, the values of a
  // bucket count as spread evenly over it.
  [[nodiscard]] std::uint64_t CountBelow(double seconds) const;
  // The part of the sum of all values that values above `seconds` have; 0 if the sum is 0.
  [[nodiscard]] double ShareAbove(double seconds) const;

 private:
  // Values from `low` to below `low` + `width`, in nanoseconds.
  struct Bucket {
    double low;
    double width;
  };
  static std::size_t BucketOf(std::int64_t nanoseconds);
  static Bucket BoundsOf(std::size_t bucket);
  static double MiddleOf(std::size_t bucket);
  void Spill();

  std::uint64_t count_ = 0;
  std::vector<std::int64_t> exact_;
  std::vector<std::uint64_t> buckets_;  // empty while exact
};

// Counts `values` in `bins` equal intervals of [low, high]; values outside count in the end bins.
// Requires: bins >= 1, low < high; otherwise the result is empty.
[[nodiscard]] std::vector<std::uint64_t> Histogram(std::span<const double> values, double low,
                                                   double high, std::size_t bins);

}  // namespace penstock::analyzer
