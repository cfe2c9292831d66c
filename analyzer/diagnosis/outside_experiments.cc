// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diagnosis/outside_experiments.h"

#include <algorithm>
#include <cstddef>

#include "analyzer/words/probes.h"

namespace penstock::analyzer {

std::optional<Statement> OutsideExperiments(const LoaderRun& run, const SteadyState& steady) {
  const auto probed = ProbedTime(run.probes);
  if (!probed) return std::nullopt;
  bool before = false;
  bool after = false;
  for (std::size_t i = 0; i < std::min(steady.in_window.size(), run.batches.size()); ++i) {
    if (!steady.in_window[i]) continue;
    before = before || run.batches[i].delivered <= probed->first;
    after = after || run.batches[i].delivered > probed->second;
  }
  if (!before && !after) return std::nullopt;
  return Say<words::kOutsideExperiments>(Give<"both">(before && after), Give<"after">(after));
}

}  // namespace penstock::analyzer
