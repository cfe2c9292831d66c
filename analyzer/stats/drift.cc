// SPDX-License-Identifier: Apache-2.0
#include "analyzer/stats/drift.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace penstock::analyzer {

std::optional<Drift> FindDrift(std::span<const double> amount, std::span<const double> time,
                               const BootstrapOptions& bootstrap, const DriftOptions& options) {
  const std::size_t third = std::min(amount.size(), time.size()) / 3;
  if (third < std::max<std::size_t>(1, options.least)) return std::nullopt;
  const std::size_t at_last = amount.size() - third;
  const auto enough = [&](std::span<const double> part) {
    return std::accumulate(part.begin(), part.end(), 0.0) >= options.shortest;
  };
  if (!enough(time.first(third)) || !enough(time.subspan(at_last, third))) return std::nullopt;
  const Interval first = BootstrapRate(amount.first(third), time.first(third), bootstrap);
  const Interval last =
      BootstrapRate(amount.subspan(at_last, third), time.subspan(at_last, third), bootstrap);
  const auto sum = [&](std::span<const double> values) {
    const auto middle = values.subspan(third, at_last - third);
    return std::accumulate(middle.begin(), middle.end(), 0.0);
  };
  const double middle = sum(time) > 0 ? sum(amount) / sum(time) : 0;
  if (!(first.estimate > 0) || !(middle > 0) || !(last.estimate > 0)) return std::nullopt;
  const double way = std::log(last.estimate / first.estimate);
  const double part = std::log(middle / first.estimate) / way;
  const bool apart = first.high < last.low || last.high < first.low;
  if (!apart || std::abs(way) < std::log(options.ratio)) return std::nullopt;
  if (part < options.step || part > 1 - options.step) return std::nullopt;
  return Drift{first.estimate, last.estimate};
}

}  // namespace penstock::analyzer
