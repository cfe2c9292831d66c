// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/warm_up.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "analyzer/stats/quantile.h"

namespace penstock::analyzer {
namespace {

constexpr double kSlow = 1.2;
constexpr std::size_t kFewestOthers = 8;

constexpr Work Demand::*kParts[] = {&Demand::read, &Demand::decode, &Demand::augment,
                                    &Demand::collate, &Demand::other};

// Batches of one kind, together.
struct Made {
  std::vector<Demand*> batches;
  std::vector<double> services;  // for each sample
  double samples = 0;
  Demand sum;  // its parts only

  void Add(Demand& demand) {
    batches.push_back(&demand);
    services.push_back(demand.service() / demand.samples);
    samples += demand.samples;
    for (const auto part : kParts) {
      (sum.*part).wall += (demand.*part).wall;
      (sum.*part).cpu += (demand.*part).cpu;
    }
  }
};

// Whether workers (without workers: the process) are new in epoch `e`, and were seen from its
// beginning.
bool StartsHere(const LoaderRun& run, std::size_t e) {
  const bool again = run.config.num_workers > 0 && !run.config.persistent_workers;
  const Epoch& epoch = run.epochs[e];
  return (e == 0 || again) && epoch.count > 0 && run.batches[epoch.first].key.index == 0;
}

}  // namespace

void SetWarmUpApart(const LoaderRun& run, const SteadyState& steady, Pipeline& pipeline) {
  if (pipeline.sample_tasks) return;
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
      } else if (steady.in_window[i]) {
        others.Add(demand);
      }
    }
  }
  if (firsts.batches.empty() || others.batches.size() < kFewestOthers) return;
  const Summary first = Summarize(firsts.services);
  const Summary other = Summarize(others.services);
  const double error = other.sd / std::sqrt(static_cast<double>(firsts.services.size()));
  if (first.mean <= std::max(kSlow * other.mean, other.mean + 2 * error)) return;
  Demand beyond;
  const auto workers = static_cast<double>(firsts.batches.size());
  for (const auto part : kParts) {
    const Work own = firsts.sum.*part;
    const double scale = firsts.samples / others.samples;
    const Work usual = {(others.sum.*part).wall * scale, (others.sum.*part).cpu * scale};
    const double wall = own.wall > usual.wall ? usual.wall / own.wall : 1;
    const double cpu = own.cpu > usual.cpu ? usual.cpu / own.cpu : 1;
    (beyond.*part).wall = (1 - wall) * own.wall / workers;
    (beyond.*part).cpu = std::min((1 - cpu) * own.cpu / workers, (beyond.*part).wall);
    for (Demand* demand : firsts.batches) {
      Work& work = demand->*part;
      work.wall *= wall;
      work.cpu = std::min(work.cpu * cpu, work.wall);
    }
  }
  for (std::size_t e = 0; e < run.epochs.size(); ++e) {
    if (!StartsHere(run, e)) continue;
    Demand& warm_up = pipeline.epochs[e].warm_up;
    warm_up = beyond;
    for (const auto part : kParts) {
      (warm_up.*part).wall *= pipeline.epochs[e].charged;
      (warm_up.*part).cpu *= pipeline.epochs[e].charged;
    }
  }
}

}  // namespace penstock::analyzer
