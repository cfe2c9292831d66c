// SPDX-License-Identifier: Apache-2.0
//
// What the stages view shows. Values; pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gui/model/document.h"
#include "gui/model/query.h"

namespace penstock::gui {

// kNone for a name that is no stage's.
[[nodiscard]] traces::StageId StageNamed(std::string_view name);

// Rows by a column of the table (1 share, 2 wall, 3 CPU, 4 count, 5 p50, 6 p99, 7 bytes); any other
// column: in the order of the data's way.
[[nodiscard]] std::vector<const analyzer::StageRow*> SortedStages(
    const std::vector<analyzer::StageRow>& rows, int column, bool descending);

// The stage to look at first: the bottleneck, else the first one.
[[nodiscard]] std::string MostTelling(const analyzer::Report& report);

// Shares of the calls in bins of analyzer::kBinsPerDecade per decade.
struct StageHistogram {
  traces::StageId stage = traces::StageId::kNone;
  std::size_t first = 0;     // bin 0 begins at 10^(first / kBinsPerDecade) ns
  std::vector<double> bins;  // fractions of all calls; whole decades
  double p50 = 0;            // seconds
  double p90 = 0;
  double p99 = 0;

  [[nodiscard]] double most() const;
  [[nodiscard]] double EdgeOf(std::size_t bin) const;  // seconds, its lower edge
  [[nodiscard]] double PlaceOf(double seconds) const;  // in bins, clamped to the axis
};
// Empty bins if nothing is known of the stage's calls.
[[nodiscard]] StageHistogram HistogramOf(const Analysis& analysis, const analyzer::StageRow& row);

// The `most` longest spans of a stage, longest first; those that reach into `range`, if it is
// given. Cost: one pass over the spans.
[[nodiscard]] std::vector<SpanRef> Slowest(const Timeline& timeline, traces::StageId stage,
                                           std::size_t most,
                                           std::optional<TimeRange> range = std::nullopt);

}  // namespace penstock::gui
