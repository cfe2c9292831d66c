// SPDX-License-Identifier: Apache-2.0
#include "analyzer/memory/private_memory.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace penstock::analyzer {
namespace {

// The value of a counter from the same walk: the sample at exactly that time.
std::optional<double> SameWalk(const CounterSeries* series, double at) {
  if (series == nullptr) return std::nullopt;
  const auto found = std::lower_bound(series->at.begin(), series->at.end(), at);
  if (found == series->at.end() || *found != at) return std::nullopt;
  return series->value[static_cast<std::size_t>(found - series->at.begin())];
}

}  // namespace

PrivateMemory SplitMemory(const CounterSeries& own, const CounterSeries& anonymous,
                          const CounterSeries* share, const CounterSeries* private_all,
                          int workers) {
  PrivateMemory split;
  std::vector<double> all;     // anonymous
  std::vector<double> by_own;  // this and `by_share` grow by the copied bytes: two estimates
  std::vector<double> by_share;
  std::vector<double> uss;
  const double sharers = std::max(1, workers);
  bool shares = true;
  for (std::size_t i = 0; i < own.at.size(); ++i) {
    const auto whole = SameWalk(&anonymous, own.at[i]);
    if (!whole || *whole <= 0) continue;  // a process that has ended
    const auto part = SameWalk(share, own.at[i]);
    shares = shares && part.has_value();
    split.at.push_back(own.at[i]);
    all.push_back(*whole);
    by_own.push_back(own.value[i] - *whole);
    by_share.push_back((part.value_or(0) - *whole) * (sharers + 1) / sharers);
    uss.push_back(SameWalk(private_all, own.at[i]).value_or(own.value[i]));
  }
  if (split.at.empty()) return split;
  const double first_own = by_own.front();
  const double first_share = by_share.front();
  const bool take_share = shares && by_share.back() - first_share < by_own.back() - first_own;
  for (std::size_t i = 0; i < split.at.size(); ++i) {
    const double copied = take_share ? by_share[i] - first_share : by_own[i] - first_own;
    split.shared.push_back(std::clamp(-first_own - copied, 0.0, all[i]));
    split.own.push_back(all[i] - split.shared.back());
    split.cached.push_back(std::max(0.0, uss[i] - split.own.back()));
  }
  return split;
}

}  // namespace penstock::analyzer
