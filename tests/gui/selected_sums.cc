// SPDX-License-Identifier: Apache-2.0
#include "tests/gui/selected_sums.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/report/report.h"
#include "gui/model/range_trace.h"
#include "traces/names.h"

namespace penstock::gui {

using traces::StageId;

std::vector<StageSum> SumsOf(std::shared_ptr<const traces::Trace> trace, TimeRange range,
                             const std::stop_token& stop) {
  std::vector<StageSum> sums;
  if (range.empty()) return sums;
  const auto part = SliceTrace(std::move(trace), range, stop);
  if (stop.stop_requested()) return sums;
  const analyzer::RunModel run = analyzer::BuildRunModel(*part);
  std::uint32_t listed = 0;
  for (const analyzer::StageRow& row : analyzer::BuildStageRows(*part, run)) {
    const StageId stage = traces::StageNamed(row.name).value_or(StageId::kNone);
    listed |= 1u << static_cast<unsigned>(stage);
    sums.push_back({stage, row.count, std::llround(row.wall * 1e9)});
  }
  for (std::uint32_t s = 0; s < wire::kStageCount; ++s) {
    const auto stage = static_cast<StageId>(s);
    const analyzer::StageTotals& totals = run.stages[stage];
    if ((listed >> s & 1u) != 0 || totals.count == 0) continue;
    sums.push_back({stage, totals.count, totals.wall.value});
  }
  std::stable_sort(sums.begin(), sums.end(),
                   [](const StageSum& a, const StageSum& b) { return a.time > b.time; });
  return sums;
}

}  // namespace penstock::gui
