// SPDX-License-Identifier: Apache-2.0
#include "analyzer/stats/paired.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace penstock::analyzer {
namespace {

// P(|T| < t) for Student's T with `degrees` of freedom. Source: Abramowitz and Stegun, 26.7.3 for
// odd degrees, 26.7.4 for even ones.
double StudentWithin(double t, std::size_t degrees) {
  const auto n = static_cast<double>(degrees);
  const double angle = std::atan(t / std::sqrt(n));
  const double cosine = std::cos(angle);
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1;
  double sum = degrees == 1 ? 0 : term;
  for (std::size_t k = odd ? 3 : 2; k + 2 <= degrees; k += 2) {
    const auto d = static_cast<double>(k);
    term *= cosine * cosine * (d - 1) / d;
    sum += term;
  }
  if (!odd) return std::sin(angle) * sum;
  return 2 / std::numbers::pi * (angle + std::sin(angle) * sum);
}

}  // namespace

double StudentBound(double outside, std::size_t degrees) {
  double low = 0;
  double high = 1;
  while (1 - StudentWithin(high, degrees) > outside && high < 1e9) high *= 2;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (1 - StudentWithin(middle, degrees) > outside ? low : high) = middle;
  }
  return high;
}

void PairedRatio::Add(double rate, double base) {
  logs_.push_back(std::log(rate / base));
  const std::size_t n = logs_.size();
  if (n < std::max<std::size_t>(options_.least, 2)) return;
  const auto count = static_cast<double>(n);
  double mean = 0;
  for (const double one : logs_) mean += one / count;
  double squares = 0;
  for (const double one : logs_) squares += (one - mean) * (one - mean);
  // The floor keeps the error far above the rounding of StudentWithin().
  const double looks = static_cast<double>(n - std::max<std::size_t>(options_.least, 2)) + 1;
  const double error = std::max(options_.error * std::exp2(-looks), 1e-9);
  const double half = StudentBound(error, n - 1) * std::sqrt(squares / (count - 1) / count);
  const double low = std::max(low_, mean - half);
  const double high = std::min(high_, mean + half);
  const bool agree = low <= high;
  low_ = agree ? low : mean - half;
  high_ = agree ? high : mean + half;
}

Interval PairedRatio::ratio() const {
  double mean = 0;
  for (const double one : logs_) mean += one / static_cast<double>(logs_.size());
  return {std::exp(std::clamp(mean, low_, high_)), std::exp(low_), std::exp(high_)};
}

}  // namespace penstock::analyzer
