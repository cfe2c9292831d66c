// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/uneven_turns.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "analyzer/words/assumptions.h"

namespace penstock::analyzer {
namespace {

constexpr double kFall = 0.03;    // least fall, as a fraction of the rate; a smaller one is noise
constexpr double kUneven = 0.05;  // MostWork() must rise by this much to explain a fall
constexpr std::size_t kMostTried = 4;
constexpr std::size_t kFewestTurns = 4;  // fewest turns of all workers from which a recurrence is
                                         // concluded

// By how much the work of the worker with the most work exceeds the mean, as a fraction of the
// mean. Counts whole turns only, because in an incomplete last turn only some workers get a batch.
// 0: there are too few turns.
double MostWork(const Pipeline& steady, int workers) {
  const auto count = static_cast<std::size_t>(workers);
  std::vector<double> work(count, 0.0);
  double sum = 0;
  std::size_t turns = 0;
  for (const EpochDemand& epoch : steady.epochs) {
    const std::size_t whole = epoch.batches.size() / count;
    turns += whole;
    for (std::size_t i = 0; i < whole * count; ++i) {
      const double service = epoch.batches[i].service();
      work[i % count] += service;
      sum += service;
    }
  }
  const double mean = sum / static_cast<double>(count);
  if (turns < kFewestTurns || !(mean > 0)) return 0;
  return *std::max_element(work.begin(), work.end()) / mean - 1;
}

// The same batches, shuffled by a generator with a fixed seed, so that no distance between long
// batches recurs.
Pipeline Reordered(Pipeline steady) {
  std::uint64_t state = 0x9e3779b97f4a7c15u;
  for (EpochDemand& epoch : steady.epochs) {
    for (std::size_t i = epoch.batches.size(); i > 1; --i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      std::swap(epoch.batches[i - 1], epoch.batches[(state >> 33) % i]);
    }
  }
  return steady;
}

struct Fall {
  const Configuration* fewer = nullptr;
  const Configuration* more = nullptr;
  double share = 0;  // lost part of the rate of `fewer`, as a fraction
};

// For each configuration, the fall of its rate from the best configuration with fewer workers; the
// deepest fall first.
std::vector<Fall> FallsIn(const std::vector<Configuration>& rates) {
  std::vector<Fall> falls;
  for (const Configuration& more : rates) {
    const Configuration* best = nullptr;
    for (const Configuration& fewer : rates) {
      const bool comparable = fewer.workers >= 1 && fewer.workers < more.workers &&
                              fewer.prefetch == more.prefetch && fewer.batch == more.batch;
      if (comparable && (best == nullptr || fewer.predicted.steady > best->predicted.steady)) {
        best = &fewer;
      }
    }
    if (best == nullptr || !(best->predicted.steady > 0)) continue;
    const double share = 1 - more.predicted.steady / best->predicted.steady;
    if (share > kFall) falls.push_back({best, &more, share});
  }
  std::stable_sort(falls.begin(), falls.end(),
                   [](const Fall& a, const Fall& b) { return a.share > b.share; });
  return falls;
}

}  // namespace

std::optional<Statement> UnevenTurns(const Pipeline& steady,
                                     const std::vector<Configuration>& rates,
                                     const RateUnder& rate_under) {
  if (!steady.in_order || steady.sample_tasks || !steady.beside.empty()) return std::nullopt;
  std::vector<Fall> falls = FallsIn(rates);
  if (falls.empty()) return std::nullopt;
  falls.resize(std::min(falls.size(), kMostTried));
  const Pipeline reordered = Reordered(steady);
  for (const Fall& fall : falls) {
    const double uneven = MostWork(steady, fall.more->workers);
    if (uneven < MostWork(steady, fall.fewer->workers) + kUneven) continue;
    if (MostWork(reordered, fall.more->workers) > uneven / 2) continue;
    const double fewer = rate_under(reordered, *fall.fewer);
    const double more = rate_under(reordered, *fall.more);
    if (!(fewer > 0) || 1 - more / fewer > fall.share / 2) continue;
    return Say<words::kUnevenTurns>(Give<"more">(fall.more->workers),
                                    Give<"fewer">(fall.fewer->workers), Give<"uneven">(1 + uneven));
  }
  return std::nullopt;
}

std::optional<Statement> OneWorkerIsSlower(const std::vector<Configuration>& rates,
                                           const LoaderFacts& facts) {
  constexpr double kSlower = 1.03;
  constexpr double kMostOfIt = 0.5;
  constexpr double kNotable = 0.1;  // of the cost: the memory of samples is named from here on
  const auto with = [&rates](int workers) {
    return std::find_if(rates.begin(), rates.end(),
                        [workers](const Configuration& one) { return one.workers == workers; });
  };
  const auto none = with(0);
  const auto one = with(1);
  if (none == rates.end() || one == rates.end() || none->batch != one->batch) return std::nullopt;
  const double without = none->predicted.rate.estimate;
  const double slower = one->predicted.rate.estimate;
  if (!(slower > 0) || without < kSlower * slower) return std::nullopt;
  const double longer = one->batch * (1 / slower - 1 / without);  // seconds a batch
  const double of_samples = one->batch * facts.fresh.sample;
  const double cost = facts.fresh.batch + of_samples + facts.fresh.touch;
  if (!(cost > 0) || cost < kMostOfIt * longer) return std::nullopt;
  const double digit = std::pow(10.0, std::floor(std::log10(cost)) - 1);  // the second of `cost`
  return Say<words::kOneWorkerIsSlower>(Give<"cost">(std::round(cost / digit) * digit),
                                        Give<"samples">(of_samples > kNotable * cost));
}

}  // namespace penstock::analyzer
