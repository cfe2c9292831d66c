// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/uneven_turns.h"

#include <algorithm>

#include "analyzer/words/assumptions.h"

namespace penstock::analyzer {
namespace {

constexpr double kFall = 0.03;    // less is noise
constexpr double kUneven = 0.05;  // and is not explained by less

// How much more work than the mean the worker with the most gets, as a fraction.
double MostWork(const Pipeline& steady, int workers) {
  std::vector<double> work(static_cast<std::size_t>(workers), 0.0);
  double sum = 0;
  for (const EpochDemand& epoch : steady.epochs) {
    for (std::size_t i = 0; i < epoch.batches.size(); ++i) {
      const double service = epoch.batches[i].service();
      work[i % work.size()] += service;
      sum += service;
    }
  }
  const double mean = sum / static_cast<double>(workers);
  return mean > 0 ? *std::max_element(work.begin(), work.end()) / mean - 1 : 0;
}

}  // namespace

std::optional<Statement> UnevenTurns(const Pipeline& steady,
                                     const std::vector<Configuration>& rates) {
  if (!steady.in_order || steady.sample_tasks || !steady.beside.empty()) return std::nullopt;
  std::optional<Statement> found;
  double deepest = kFall;
  for (const Configuration& more : rates) {
    for (const Configuration& fewer : rates) {
      if (fewer.workers < 1 || fewer.workers >= more.workers || fewer.prefetch != more.prefetch ||
          fewer.batch != more.batch) {
        continue;
      }
      const double fall = 1 - more.predicted.rate.estimate / fewer.predicted.rate.estimate;
      const double uneven = MostWork(steady, more.workers);
      if (!(fall > deepest) || uneven < MostWork(steady, fewer.workers) + kUneven) continue;
      deepest = fall;
      found = Say<words::kUnevenTurns>(Give<"more">(more.workers), Give<"fewer">(fewer.workers),
                                       Give<"uneven">(uneven));
    }
  }
  return found;
}

}  // namespace penstock::analyzer
