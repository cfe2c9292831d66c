// SPDX-License-Identifier: Apache-2.0
#include "gui/model/stretches.h"

#include <algorithm>
#include <utility>

namespace penstock::gui {

Stretches::Stretches(std::vector<Stretch> any) : parts_(std::move(any)) {
  std::erase_if(parts_, [](const Stretch& one) { return one.to <= one.from; });
  std::sort(parts_.begin(), parts_.end(),
            [](const Stretch& a, const Stretch& b) { return a.from < b.from; });
  std::size_t kept = 0;
  for (const Stretch& one : parts_) {
    if (kept > 0 && one.from <= parts_[kept - 1].to) {
      parts_[kept - 1].to = std::max(parts_[kept - 1].to, one.to);
    } else {
      parts_[kept++] = one;
    }
  }
  parts_.resize(kept);
}

std::int64_t Stretches::length() const {
  std::int64_t sum = 0;
  for (const Stretch& one : parts_) sum += one.to - one.from;
  return sum;
}

Stretches Stretches::Both(const Stretches& other) const {
  Stretches common;
  for (std::size_t i = 0, k = 0; i < parts_.size() && k < other.parts_.size();) {
    const Stretch& a = parts_[i];
    const Stretch& b = other.parts_[k];
    const std::int64_t from = std::max(a.from, b.from);
    const std::int64_t to = std::min(a.to, b.to);
    if (to > from) common.parts_.push_back({from, to});
    if (a.to < b.to) {
      ++i;
    } else {
      ++k;
    }
  }
  return common;
}

Stretches Stretches::Without(const Stretches& other) const {
  Stretches left;
  std::size_t k = 0;
  for (const Stretch& one : parts_) {
    std::int64_t from = one.from;
    while (k < other.parts_.size() && other.parts_[k].to <= from) ++k;
    for (std::size_t m = k; m < other.parts_.size() && other.parts_[m].from < one.to; ++m) {
      if (other.parts_[m].from > from) left.parts_.push_back({from, other.parts_[m].from});
      from = std::max(from, other.parts_[m].to);
    }
    if (from < one.to) left.parts_.push_back({from, one.to});
  }
  return left;
}

}  // namespace penstock::gui
