// SPDX-License-Identifier: Apache-2.0
#include "loader/pipeline/stats.h"

#include <algorithm>
#include <cmath>

namespace penstock::loader {

void Histogram::Merge(const Histogram& other) {
  for (std::size_t i = 0; i < kClasses; ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
}

TimeNs Histogram::Quantile(double p) const {
  if (count_ == 0) return TimeNs{};
  const auto rank = static_cast<std::uint64_t>(
      std::max(1.0, std::ceil(std::clamp(p, 0.0, 1.0) * static_cast<double>(count_))));
  std::uint64_t below = 0;
  std::size_t found = 0;
  while (found + 1 < kClasses && (below += counts_[found]) < rank) ++found;
  if (found < (1u << kBits)) return TimeNs{static_cast<std::int64_t>(found)};
  // The inverse of Class().
  const std::size_t octave = (found >> kBits) - 1;
  const std::uint64_t lowest = (found - (octave << kBits)) << octave;
  return TimeNs{static_cast<std::int64_t>(lowest + (std::uint64_t{1} << octave) / 2)};
}

void StageStats::Merge(const StageStats& other) {
  wall += other.wall;
  cpu += other.cpu;
  count += other.count;
  bytes += other.bytes;
  lengths.Merge(other.lengths);
}

}  // namespace penstock::loader
