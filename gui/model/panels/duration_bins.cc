// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "gui/model/panels/stages.h"

namespace penstock::gui {
namespace {

// Fills the bins from `first` to before `end`. Durations outside count in the first or last bin.
StageHistogram BinsBetween(const analyzer::DurationSketch& durations, std::size_t per_decade,
                           std::size_t first, std::size_t end) {
  StageHistogram histogram{.per_decade = per_decade, .first = first};
  const auto count = static_cast<double>(durations.count());
  std::uint64_t below = 0;
  for (std::size_t bin = 0; bin < end - first; ++bin) {
    const std::uint64_t upto = first + bin + 1 == end
                                   ? durations.count()
                                   : durations.CountBelow(histogram.EdgeOf(bin + 1));
    histogram.bins.push_back(static_cast<double>(upto - std::min(below, upto)) / count);
    below = std::max(below, upto);
  }
  return histogram;
}

}  // namespace

StageHistogram HistogramOf(const analyzer::DurationSketch& durations) {
  constexpr std::ptrdiff_t kFew = 2;  // bins that show no shape
  constexpr std::size_t kFiner = 8;   // bins in place of one
  constexpr std::size_t kBeside = 4;  // empty bins on each side
  constexpr std::size_t kCoarse = analyzer::kBinsPerDecade;
  if (durations.count() == 0) return {};
  const auto decades = [&](double p) {
    return std::log10(std::max(durations.Quantile(p) * 1e9, 1.0));
  };
  const double low = decades(0);
  const double high = decades(1);
  StageHistogram histogram =
      BinsBetween(durations, kCoarse, static_cast<std::size_t>(low) * kCoarse,
                  (static_cast<std::size_t>(high) + 1) * kCoarse);
  const auto used = std::count_if(histogram.bins.begin(), histogram.bins.end(),
                                  [](double share) { return share > 0; });
  if (used > kFew) return histogram;
  constexpr std::size_t kFine = kCoarse * kFiner;
  const auto first = static_cast<std::size_t>(low * kFine);
  const auto last = static_cast<std::size_t>(high * kFine);
  // Two bins that are used may lie far apart.
  if (last - first > kFew * kFiner) return histogram;
  return BinsBetween(durations, kFine, first - std::min(first, kBeside), last + kBeside + 1);
}

std::optional<StageBin> BinOf(const StageHistogram& histogram, std::optional<StageBin> chosen) {
  return chosen && chosen->per_decade == histogram.per_decade ? chosen : std::nullopt;
}

double StageHistogram::most() const {
  return bins.empty() ? 0 : *std::max_element(bins.begin(), bins.end());
}

double StageHistogram::EdgeOf(std::size_t bin) const {
  return std::pow(10.0, static_cast<double>(first + bin) / static_cast<double>(per_decade)) * 1e-9;
}

double StageHistogram::PlaceOf(double seconds) const {
  const double place = std::log10(std::max(seconds * 1e9, 1.0)) * static_cast<double>(per_decade);
  return std::clamp(place - static_cast<double>(first), 0.0, static_cast<double>(bins.size()));
}

}  // namespace penstock::gui
