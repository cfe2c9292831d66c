// SPDX-License-Identifier: Apache-2.0
//
// Sets of moments, as intervals of time. Values; pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace penstock::analyzer {

// Units: nanoseconds. An interval includes its first moment, but not its second. A set is in
//        ascending order, and its intervals neither touch nor overlap: Unite() makes such a set.
using Stretches = std::vector<std::pair<std::int64_t, std::int64_t>>;

inline void Unite(Stretches& stretches) {
  std::sort(stretches.begin(), stretches.end());
  std::size_t kept = 0;
  for (const auto& [from, to] : stretches) {
    if (to <= from) continue;
    if (kept > 0 && from <= stretches[kept - 1].second) {
      stretches[kept - 1].second = std::max(stretches[kept - 1].second, to);
    } else {
      stretches[kept++] = {from, to};
    }
  }
  stretches.resize(kept);
}

// Units: seconds.
[[nodiscard]] inline double Length(const Stretches& set) {
  std::int64_t sum = 0;
  for (const auto& [from, to] : set) sum += to - from;
  return static_cast<double>(sum) * 1e-9;
}

// The moments that are in both sets. Cost: linear.
[[nodiscard]] inline Stretches Common(const Stretches& a, const Stretches& b) {
  Stretches common;
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
[[nodiscard]] inline Stretches Minus(const Stretches& a, const Stretches& b) {
  Stretches left;
  std::size_t k = 0;
  for (auto [from, to] : a) {
    while (k < b.size() && b[k].second <= from) ++k;
    for (std::size_t i = k; i < b.size() && b[i].first < to && from < to; ++i) {
      if (b[i].first > from) left.emplace_back(from, b[i].first);
      from = std::max(from, b[i].second);
    }
    if (from < to) left.emplace_back(from, to);
  }
  return left;
}

// How much of [from, to) is in the set. Units: nanoseconds. Cost: logarithmic, plus the intervals
// hit.
[[nodiscard]] inline std::int64_t Within(const Stretches& set, std::int64_t from, std::int64_t to) {
  auto at = std::upper_bound(set.begin(), set.end(), std::make_pair(from, from),
                             [](const auto& a, const auto& b) { return a.first < b.second; });
  std::int64_t sum = 0;
  for (; at != set.end() && at->first < to; ++at) {
    sum += std::max<std::int64_t>(0, std::min(at->second, to) - std::max(at->first, from));
  }
  return sum;
}

// Within() for many questions about one set. The set must outlive the object. Cost: logarithmic,
// however many intervals are hit.
class StretchSums {
 public:
  StretchSums() = default;
  explicit StretchSums(const Stretches& set) : set_(&set) {
    before_.reserve(set.size());
    std::int64_t sum = 0;
    for (const auto& [from, to] : set) {
      before_.push_back(sum);
      sum += to - from;
    }
  }
  [[nodiscard]] std::int64_t Within(std::int64_t from, std::int64_t to) const {
    return to > from ? Until(to) - Until(from) : 0;
  }

 private:
  [[nodiscard]] std::int64_t Until(std::int64_t at) const {
    if (set_ == nullptr) return 0;
    const auto next = std::upper_bound(set_->begin(), set_->end(), at,
                                       [](std::int64_t t, const auto& s) { return t < s.first; });
    if (next == set_->begin()) return 0;
    const auto i = static_cast<std::size_t>(next - set_->begin()) - 1;
    return before_[i] + std::min(at, (*set_)[i].second) - (*set_)[i].first;
  }

  const Stretches* set_ = nullptr;    // nullptr: the empty set
  std::vector<std::int64_t> before_;  // by interval: the length of those before it
};

}  // namespace penstock::analyzer
