// SPDX-License-Identifier: Apache-2.0
#include "analyzer/stats/bootstrap.h"

#include <algorithm>
#include <random>
#include <vector>

#include "analyzer/stats/quantile.h"

namespace penstock::analyzer {
namespace {

constexpr std::size_t kFewestToResample = 8;

}  // namespace

std::vector<double> ResampleRate(std::span<const double> amount, std::span<const double> time,
                                 const BootstrapOptions& options) {
  const std::size_t n = std::min(amount.size(), time.size());
  std::vector<double> rates;
  if (n < kFewestToResample) return rates;
  // At least four blocks must fit into the series.
  const std::size_t block = std::clamp<std::size_t>(options.block, 1, n / 4);
  // Element i is the sum of the first i values, so the sum of a block is a difference of two.
  std::vector<double> amount_to(n + 1, 0.0);
  std::vector<double> time_to(n + 1, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    amount_to[i + 1] = amount_to[i] + amount[i];
    time_to[i + 1] = time_to[i] + time[i];
  }
  std::mt19937_64 random(options.seed);
  rates.reserve(options.resamples);
  for (std::size_t r = 0; r < options.resamples; ++r) {
    double a = 0;
    double t = 0;
    for (std::size_t drawn = 0; drawn < n;) {
      // The modulo bias of n / 2^64 does not matter. std::uniform_int_distribution would give
      // different numbers with different standard libraries.
      const std::size_t from = static_cast<std::size_t>(random() % (n - block + 1));
      const std::size_t length = std::min(block, n - drawn);
      a += amount_to[from + length] - amount_to[from];
      t += time_to[from + length] - time_to[from];
      drawn += length;
    }
    if (t > 0) rates.push_back(a / t);
  }
  return rates;
}

Interval BootstrapRate(std::span<const double> amount, std::span<const double> time,
                       const BootstrapOptions& options) {
  const std::size_t n = std::min(amount.size(), time.size());
  double amounts = 0;
  double times = 0;
  for (std::size_t i = 0; i < n; ++i) {
    amounts += amount[i];
    times += time[i];
  }
  if (n == 0 || !(times > 0)) return {};
  const double estimate = amounts / times;
  if (n < kFewestToResample) return {estimate, 0.5 * estimate, 1.5 * estimate};
  std::vector<double> rates = ResampleRate(amount, time, options);
  std::sort(rates.begin(), rates.end());
  const double tail = (1 - options.confidence) / 2;
  return {estimate, std::min(estimate, Quantile(rates, tail)),
          std::max(estimate, Quantile(rates, 1 - tail))};
}

Interval BootstrapMean(std::span<const double> values, const BootstrapOptions& options) {
  const std::vector<double> ones(values.size(), 1.0);
  return BootstrapRate(values, ones, options);
}

}  // namespace penstock::analyzer
