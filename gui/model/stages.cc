// SPDX-License-Identifier: Apache-2.0
#include "gui/model/stages.h"

#include <algorithm>
#include <cmath>

namespace penstock::gui {
namespace {

using analyzer::kBinsPerDecade;
using analyzer::StageRow;
using traces::StageId;

double KeyOf(const StageRow& row, int column) {
  switch (column) {
    case 1:
      return row.share;
    case 2:
      return row.wall;
    case 3:
      return row.cpu;
    case 4:
      return static_cast<double>(row.count);
    case 5:
      return row.p50;
    case 6:
      return row.p99;
    case 7:
      return static_cast<double>(row.bytes);
    default:
      return 0;
  }
}

}  // namespace

StageId StageNamed(std::string_view name) {
  for (std::uint8_t s = 1; s < wire::kStageCount; ++s) {
    if (traces::StageName(static_cast<StageId>(s)) == name) return static_cast<StageId>(s);
  }
  return StageId::kNone;
}

std::vector<const StageRow*> SortedStages(const std::vector<StageRow>& rows, int column,
                                          bool descending) {
  std::vector<const StageRow*> sorted;
  for (const StageRow& row : rows) sorted.push_back(&row);
  if (column >= 1 && column <= 7) {
    std::stable_sort(sorted.begin(), sorted.end(), [&](const StageRow* a, const StageRow* b) {
      return descending ? KeyOf(*a, column) > KeyOf(*b, column)
                        : KeyOf(*a, column) < KeyOf(*b, column);
    });
  }
  return sorted;
}

std::string MostTelling(const analyzer::Report& report) {
  const std::string_view bottleneck = analyzer::FactorName(report.diagnosis.bottleneck);
  for (const StageRow& row : report.stages) {
    if (row.name == bottleneck || (bottleneck == "compute" && row.name == "step")) return row.name;
  }
  return report.stages.empty() ? "" : report.stages.front().name;
}

double StageHistogram::most() const {
  return bins.empty() ? 0 : *std::max_element(bins.begin(), bins.end());
}

double StageHistogram::EdgeOf(std::size_t bin) const {
  return std::pow(10.0, static_cast<double>(first + bin) / kBinsPerDecade) * 1e-9;
}

double StageHistogram::PlaceOf(double seconds) const {
  const double place = std::log10(std::max(seconds * 1e9, 1.0)) * kBinsPerDecade;
  return std::clamp(place - static_cast<double>(first), 0.0, static_cast<double>(bins.size()));
}

StageHistogram HistogramOf(const Analysis& analysis, const StageRow& row) {
  StageHistogram histogram;
  histogram.stage = StageNamed(row.name);
  histogram.p50 = row.p50;
  histogram.p99 = row.p99;
  histogram.p90 = row.p50;
  for (const analyzer::LatencyRow& latency : analysis.plots.latencies) {
    if (latency.name != row.name || latency.count == 0) continue;
    std::size_t low = latency.bins.size();
    std::size_t high = 0;
    for (std::size_t i = 0; i < latency.bins.size(); ++i) {
      if (latency.bins[i] == 0) continue;
      low = std::min(low, i);
      high = i;
    }
    if (low > high) break;
    low = low / kBinsPerDecade * kBinsPerDecade;
    high = std::min((high / kBinsPerDecade + 1) * kBinsPerDecade, latency.bins.size());
    histogram.first = low;
    const auto count = static_cast<double>(latency.count);
    double below = 0;
    bool passed = false;
    for (std::size_t i = low; i < high; ++i) {
      const double share = static_cast<double>(latency.bins[i]) / count;
      // Within a bin the calls are taken to lie evenly on the log scale.
      if (!passed && below + share >= 0.9 && share > 0) {
        const double part = (0.9 - below) / share;
        histogram.p90 = std::pow(10.0, (static_cast<double>(i) + part) / kBinsPerDecade) * 1e-9;
        passed = true;
      }
      below += share;
      histogram.bins.push_back(share);
    }
    histogram.p90 = std::clamp(histogram.p90, row.p50, std::max(row.p50, row.p99));
  }
  return histogram;
}

std::vector<SpanRef> Slowest(const Timeline& timeline, StageId stage, std::size_t most,
                             std::optional<TimeRange> range) {
  std::vector<std::pair<std::int64_t, SpanRef>> heap;  // the shortest of the longest on top
  const auto longer = [](const auto& a, const auto& b) { return a > b; };
  for (std::uint32_t l = 0; l < timeline.lanes.size(); ++l) {
    for (std::uint32_t v = 0; v < timeline.lanes[l].levels.size(); ++v) {
      const Level& level = timeline.lanes[l].levels[v];
      const std::size_t first = range ? level.FirstEndingAfter(range->from) : 0;
      const std::size_t last = range ? level.FirstStartingAt(range->to) : level.size();
      for (auto i = static_cast<std::uint32_t>(first); i < last; ++i) {
        if (level.stage(i) != stage) continue;
        if (heap.size() == most && level.length(i) <= heap.front().first) continue;
        heap.emplace_back(level.length(i), SpanRef{l, v, i});
        std::push_heap(heap.begin(), heap.end(), longer);
        if (heap.size() > most) {
          std::pop_heap(heap.begin(), heap.end(), longer);
          heap.pop_back();
        }
      }
    }
  }
  std::sort(heap.begin(), heap.end(), longer);
  std::vector<SpanRef> spans;
  for (const auto& [length, span] : heap) spans.push_back(span);
  return spans;
}

}  // namespace penstock::gui
