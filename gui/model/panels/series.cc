// SPDX-License-Identifier: Apache-2.0
#include "gui/model/panels/series.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace penstock::gui {

Series::Series(double begin, double end, std::size_t bins)
    : from(begin),
      width(std::max(end - begin, 1e-9) / static_cast<double>(bins)),
      value(bins, 0.0) {}

void Series::Spread(double begin, double end, double amount) {
  if (value.empty()) return;
  const auto last = static_cast<double>(value.size());
  const double low = (begin - from) / width;
  const double high = (end - from) / width;
  if (!(high > low)) {
    if (low >= 0 && low < last) value[static_cast<std::size_t>(low)] += amount;
    return;
  }
  const double density = amount / (high - low);
  const double first = std::clamp(low, 0.0, last);
  const double until = std::clamp(high, 0.0, last);
  for (double at = first; at < until;) {
    const auto bin = static_cast<std::size_t>(at);
    const double next = std::min(until, static_cast<double>(bin) + 1);
    value[std::min(bin, value.size() - 1)] += density * (next - at);
    at = next;
  }
}

void Series::Join(std::size_t bins) {
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (i % bins == 0) value[i / bins] = value[i];
    if (i % bins != 0) value[i / bins] += value[i];
  }
  value.resize(value.size() / bins);
  width *= static_cast<double>(bins);
}

void Series::Divide(double by) {
  for (double& one : value) one /= by;
}

double Series::most() const {
  return value.empty() ? 0 : *std::max_element(value.begin(), value.end());
}

double Series::sum() const {
  return std::accumulate(value.begin(), value.end(), 0.0);
}

double Series::At(double at) const {
  const double bin = (at - from) / std::max(width, 1e-300);
  if (!(bin >= 0) || bin >= static_cast<double>(value.size())) return 0;
  return value[static_cast<std::size_t>(bin)];
}

void SpreadGrowth(const analyzer::CounterSeries& counter, Series& into) {
  for (std::size_t i = 1; i < counter.at.size(); ++i) {
    const double grown = counter.value[i] - counter.value[i - 1];
    if (grown > 0) into.Spread(counter.at[i - 1], counter.at[i], grown);
  }
}

double Curve::At(double when) const {
  const auto it = std::upper_bound(at.begin(), at.end(), when);
  return it == at.begin() ? 0 : value[static_cast<std::size_t>(it - at.begin()) - 1];
}

Curve CurveOf(const analyzer::CounterSeries& counter, double scale, std::size_t most) {
  Curve curve;
  if (counter.at.empty()) return curve;
  const std::size_t stride =
      std::max<std::size_t>(1, counter.at.size() / std::max<std::size_t>(most, 1));
  double area = 0;
  curve.low = counter.value.front() * scale;
  curve.high = curve.low;
  for (std::size_t i = 0; i < counter.at.size(); ++i) {
    const double value = counter.value[i] * scale;
    curve.low = std::min(curve.low, value);
    curve.high = std::max(curve.high, value);
    if (i + 1 < counter.at.size()) area += value * (counter.at[i + 1] - counter.at[i]);
    if (i % stride == 0 || i + 1 == counter.at.size()) {
      curve.at.push_back(counter.at[i]);
      curve.value.push_back(value);
    }
  }
  curve.last = curve.value.back();
  const double length = counter.at.back() - counter.at.front();
  curve.mean = length > 0 ? area / length : curve.last;
  return curve;
}

}  // namespace penstock::gui
