// SPDX-License-Identifier: Apache-2.0
//
// Sets of points in time, as sorted intervals. Pure. IntervalSums points to a set; the rest are
// values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace penstock::analyzer {

// A set of intervals [first, second): `first` belongs to the interval, `second` does not. The
// intervals are sorted and neither touch nor overlap; Normalise() makes any list so.
// Units: nanoseconds.
using IntervalSet = std::vector<std::pair<std::int64_t, std::int64_t>>;

// Sorts the intervals and merges those that touch or overlap. Drops empty ones.
inline void Normalise(IntervalSet& intervals) {
  std::sort(intervals.begin(), intervals.end());
  std::size_t kept = 0;
  for (const auto& [from, to] : intervals) {
    if (to <= from) continue;
    if (kept > 0 && from <= intervals[kept - 1].second) {
      intervals[kept - 1].second = std::max(intervals[kept - 1].second, to);
    } else {
      intervals[kept++] = {from, to};
    }
  }
  intervals.resize(kept);
}

// The total length of the set. Units: seconds.
[[nodiscard]] inline double Length(const IntervalSet& set) {
  std::int64_t sum = 0;
  for (const auto& [from, to] : set) sum += to - from;
  return static_cast<double>(sum) * 1e-9;
}

// The moments that are in both sets. Cost: linear.
[[nodiscard]] inline IntervalSet Intersection(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet common;
  for (std::size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    const std::int64_t from = std::max(a[i].first, b[k].first);
    const std::int64_t to = std::min(a[i].second, b[k].second);
    if (to > from) common.emplace_back(from, to);
    if (a[i].second < b[k].second) {
      ++i;
    } else {
      ++k;
    }
  }
  return common;
}

// The moments that are in `a` but not in `b`. Cost: linear.
[[nodiscard]] inline IntervalSet Difference(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet rest;
  std::size_t k = 0;
  for (auto [from, to] : a) {
    while (k < b.size() && b[k].second <= from) ++k;
    for (std::size_t i = k; i < b.size() && b[i].first < to && from < to; ++i) {
      if (b[i].first > from) rest.emplace_back(from, b[i].first);
      from = std::max(from, b[i].second);
    }
    if (from < to) rest.emplace_back(from, to);
  }
  return rest;
}

// How much of [from, to) the set covers. Units: nanoseconds. Cost: O(log n), and one step for each
// interval that overlaps [from, to).
[[nodiscard]] inline std::int64_t Within(const IntervalSet& set, std::int64_t from,
                                         std::int64_t to) {
  auto at = std::upper_bound(set.begin(), set.end(), std::make_pair(from, from),
                             [](const auto& a, const auto& b) { return a.first < b.second; });
  std::int64_t sum = 0;
  for (; at != set.end() && at->first < to; ++at) {
    sum += std::max<std::int64_t>(0, std::min(at->second, to) - std::max(at->first, from));
  }
  return sum;
}

// Answers many Within() questions about one set. The set must outlive the object. Units:
// nanoseconds. Cost: linear to make, then O(log n) for each question.
class IntervalSums {
 public:
  IntervalSums() = default;
  explicit IntervalSums(const IntervalSet& set) : set_(&set) {
    before_.reserve(set.size());
    std::int64_t sum = 0;
    for (const auto& [from, to] : set) {
      before_.push_back(sum);
      sum += to - from;
    }
  }
  [[nodiscard]] std::int64_t Within(std::int64_t from, std::int64_t to) const {
    return to > from ? CoveredBefore(to) - CoveredBefore(from) : 0;
  }

 private:
  [[nodiscard]] std::int64_t CoveredBefore(std::int64_t at) const {
    if (set_ == nullptr) return 0;
    const auto next = std::upper_bound(set_->begin(), set_->end(), at,
                                       [](std::int64_t t, const auto& s) { return t < s.first; });
    if (next == set_->begin()) return 0;
    const auto i = static_cast<std::size_t>(next - set_->begin()) - 1;
    return before_[i] + std::min(at, (*set_)[i].second) - (*set_)[i].first;
  }

  const IntervalSet* set_ = nullptr;  // nullptr: the empty set
  std::vector<std::int64_t> before_;  // by interval: total length of the earlier intervals
};

}  // namespace penstock::analyzer
