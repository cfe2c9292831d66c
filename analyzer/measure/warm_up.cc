// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/warm_up.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "analyzer/measure/made.h"
#include "analyzer/stats/quantile.h"

namespace penstock::analyzer {
namespace {

constexpr double kSlowStart = 1.2;
constexpr std::size_t kFewestOthers = 8;

// Whether workers (without workers: the process) are new in epoch `e`, and its beginning was
// recorded.
bool StartsHere(const LoaderRun& run, std::size_t e) {
  const bool again = run.config.num_workers > 0 && !run.config.persistent_workers;
  const Epoch& epoch = run.epochs[e];
  return (e == 0 || again) && epoch.count > 0 && run.batches[epoch.first].key.index == 0;
}

}  // namespace

void SetWarmUpApart(const LoaderRun& run, const SteadyState& steady,
                    std::span<const double> charged, Pipeline& pipeline) {
  if (pipeline.sample_tasks) return;
  std::vector<Demand*> batches;      // first batches of new workers
  std::set<std::size_t> first_ones;  // their indices
  Made firsts;
  Made others;
  for (std::size_t e = 0; e < run.epochs.size(); ++e) {
    const bool starts = StartsHere(run, e);
    std::set<std::int32_t> seen;
    for (std::size_t j = 0; j < run.epochs[e].count; ++j) {
      const std::size_t i = run.epochs[e].first + j;
      const Batch& batch = run.batches[i];
      Demand& demand = pipeline.epochs[e].batches[j];
      if (!batch.was_fetched() || !(demand.samples > 0)) continue;
      if (seen.insert(batch.worker_process).second && starts) {
        firsts.Add(demand);
        batches.push_back(&demand);
        first_ones.insert(i);
      } else if (steady.in_window[i]) {
        others.Add(demand);
      }
    }
  }
  if (batches.empty() || others.services.size() < kFewestOthers) return;
  const Summary first = Summarize(firsts.services);
  const Summary other = Summarize(others.services);
  const double error = other.sd / std::sqrt(static_cast<double>(firsts.services.size()));
  if (first.mean <= std::max(kSlowStart * other.mean, other.mean + 2 * error)) return;
  const auto count = static_cast<double>(batches.size());
  // A batch without a recorded fetch may have the costs of a first batch.
  const std::vector<Demand*> all = BatchesOf(pipeline);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool lost = !run.batches[i].was_fetched();
    if (lost && first_ones.count(all[i]->source) > 0) batches.push_back(all[i]);
  }
  Demand beyond = TakeOffBeyond(firsts, others, batches);
  ScaleParts(beyond, 1 / count);
  for (const auto part : kDemandParts) {
    (beyond.*part).cpu = std::min((beyond.*part).cpu, (beyond.*part).wall);
  }
  for (std::size_t e = 0; e < run.epochs.size(); ++e) {
    if (!StartsHere(run, e)) continue;
    pipeline.epochs[e].warm_up = beyond;
    ScaleParts(pipeline.epochs[e].warm_up, charged[e]);
  }
}

}  // namespace penstock::analyzer
