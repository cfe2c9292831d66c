// SPDX-License-Identifier: Apache-2.0
#include "analyzer/memory/private_memory.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace penstock::analyzer {
namespace {

// The value of a counter at the walk of time `at`. All samples of one walk have exactly the same
// time.
std::optional<double> SameWalk(const CounterSeries* series, double at) {
  if (series == nullptr) return std::nullopt;
  const auto found = std::lower_bound(series->at.begin(), series->at.end(), at);
  if (found == series->at.end() || *found != at) return std::nullopt;
  return series->value[static_cast<std::size_t>(found - series->at.begin())];
}

}  // namespace

PrivateMemory SplitMemory(const CounterSeries& private_dirty, const CounterSeries& anonymous,
                          const CounterSeries* anonymous_share, const CounterSeries* uss,
                          int workers) {
  PrivateMemory split;
  std::vector<double> all;       // anonymous
  std::vector<double> by_dirty;  // it and `by_share` grow by at least the copied bytes
  std::vector<double> by_share;
  std::vector<double> unique;  // all private memory, pages of files included
  const double sharers = std::max(1, workers);
  bool share_known = true;  // the process's share is known at all walks
  for (std::size_t i = 0; i < private_dirty.at.size(); ++i) {
    const double at = private_dirty.at[i];
    const double dirty = private_dirty.value[i];
    const auto whole = SameWalk(&anonymous, at);
    if (!whole || *whole <= 0) continue;  // a process that has ended
    const auto share = SameWalk(anonymous_share, at);
    share_known = share_known && share.has_value();
    split.at.push_back(at);
    all.push_back(*whole);
    by_dirty.push_back(dirty - *whole);
    by_share.push_back((share.value_or(0) - *whole) * (sharers + 1) / sharers);
    unique.push_back(SameWalk(uss, at).value_or(dirty));
  }
  if (split.at.empty()) return split;
  const double first_dirty = by_dirty.front();
  const double first_share = by_share.front();
  const bool take_share =
      share_known && by_share.back() - first_share < by_dirty.back() - first_dirty;
  for (std::size_t i = 0; i < split.at.size(); ++i) {
    const double copied = take_share ? by_share[i] - first_share : by_dirty[i] - first_dirty;
    // At the first walk, anonymous minus private dirty memory is shared. Later copies are
    // subtracted.
    split.shared.push_back(std::clamp(-first_dirty - copied, 0.0, all[i]));
    split.own.push_back(all[i] - split.shared.back());
    split.cached.push_back(std::max(0.0, unique[i] - split.own.back()));
  }
  return split;
}

}  // namespace penstock::analyzer
