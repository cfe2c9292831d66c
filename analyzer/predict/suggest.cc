// SPDX-License-Identifier: Apache-2.0
#include "analyzer/predict/suggest.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analyzer/predict/laws.h"
#include "analyzer/simulate/simulate.h"

namespace penstock::analyzer {
namespace {

// A search simulates this many batches or samples. They are enough for the queues to matter.
constexpr std::size_t kSuggestBatches = 1024;
constexpr std::size_t kSuggestTasks = 32768;
// A setting whose rate breaks a law takes part if the rate is at most this many times the recorded
// rate.
constexpr double kNearRecorded = 1.15;
constexpr double kTolerance = 0.02;  // settings that differ by less count as equally good

struct CandidateSetting {
  Setting setting;
  double time = 0;
  double rate = 0;  // simulated, steady
  std::uint64_t ram = 0;
};

bool Cheaper(const CandidateSetting& a, const CandidateSetting& b) {
  if (a.setting.workers != b.setting.workers) return a.setting.workers < b.setting.workers;
  return a.setting.prefetch < b.setting.prefetch;
}

class Search {
 public:
  Search(const Pipeline& pipeline, const LoaderFacts& facts, const Replay& replay,
         const Budget& budget)
      : pipeline_(Shortened(pipeline, kSuggestBatches, kSuggestTasks)),
        facts_(facts),
        replay_(replay),
        budget_(budget) {}

  // Tries a setting. Returns false if memory or /dev/shm has no room for it. The recorded setting
  // always has room, because it did run.
  bool Consider(int workers, int prefetch, bool recorded = false) {
    CandidateSetting candidate;
    candidate.setting.workers = workers;
    candidate.setting.prefetch = prefetch;
    // Persistent workers cost nothing but their memory, and start only once.
    const bool restarts = pipeline_.epochs.size() > 1 && workers > 0 && !pipeline_.sample_tasks;
    if (!recorded && restarts) candidate.setting.persistent = true;
    candidate.ram = RamOf(pipeline_, candidate.setting, facts_);
    const double shared = SharedMemoryOf(pipeline_, candidate.setting, facts_);
    if (!recorded && budget_.shared_memory > 0 && shared > budget_.shared_memory) return false;
    const bool too_large = budget_.ram > 0 && static_cast<double>(candidate.ram) > budget_.ram;
    if (!recorded && too_large) return false;
    const Pipeline changed = Apply(pipeline_, candidate.setting, facts_);
    const Pipeline steady = SteadyPart(changed);
    candidate.rate = SimulateSteady(steady).rate();
    const double measured_scale = candidate.rate * replay_.correction();
    candidate.time = TimeOf(changed, candidate.rate);
    if (recorded) {
      recorded_rate_ = measured_scale;
      recorded_time_ = candidate.time;
    } else if (!BrokenLaw(steady, measured_scale).empty()) {
      // The setting breaks a law. If its rate is far above the recorded one, the model tells
      // nothing about it. Otherwise the recording is near the law too, and the setting counts as no
      // faster than the recording.
      if (measured_scale > kNearRecorded * recorded_rate_) return true;
      candidate.time = std::max(candidate.time, recorded_time_);
    }
    if (candidate.time > 0) candidates_.push_back(candidate);
    return true;
  }

  // Leaves out running without workers if persistent workers have a higher steady rate. The
  // recorded workers start again in each epoch, so a loop without workers looks fast compared with
  // them.
  void PreferPersistent() {
    if (pipeline_.workers == 0 || facts_.persistent) return;
    double persistent = 0;
    for (const CandidateSetting& one : candidates_) {
      if (one.setting.persistent) persistent = std::max(persistent, one.rate);
    }
    candidates_.erase(std::remove_if(candidates_.begin(), candidates_.end(),
                                     [&](const CandidateSetting& one) {
                                       return one.setting.workers == 0 &&
                                              one.rate * (1 + kTolerance) < persistent;
                                     }),
                      candidates_.end());
  }

  // Requires: a candidate was taken. The recorded setting is the first one, and wins at equal cost.
  [[nodiscard]] const CandidateSetting& Choose() const {
    double best = candidates_.front().time;
    for (const CandidateSetting& candidate : candidates_) best = std::min(best, candidate.time);
    const CandidateSetting* chosen = nullptr;
    for (const CandidateSetting& candidate : candidates_) {
      if (candidate.time > best * (1 + kTolerance)) continue;
      if (chosen == nullptr || Cheaper(candidate, *chosen)) chosen = &candidate;
    }
    return *chosen;
  }
  [[nodiscard]] bool empty() const { return candidates_.empty(); }

 private:
  Pipeline pipeline_;
  const LoaderFacts& facts_;
  const Replay& replay_;
  const Budget& budget_;
  double recorded_rate_ = 0;  // on the scale of the recording
  double recorded_time_ = 0;
  std::vector<CandidateSetting> candidates_;
};

// Workers that mostly wait share a core well. Returns the number that keeps all cores busy, but at
// most twice the recorded number, because their storage may not serve more workers.
int WorkersThatFillCores(const Pipeline& pipeline) {
  double service = 0;
  double cpu = 0;
  for (const EpochDemand& epoch : pipeline.epochs) {
    for (const Demand& demand : epoch.batches) {
      service += demand.service();
      cpu += demand.cpu() + demand.put;
    }
  }
  if (service <= 0) return pipeline.workers;
  const double fill = pipeline.cores * service / std::max(cpu, 1e-3 * service);
  return static_cast<int>(std::min(2.0 * std::max(0, pipeline.workers), std::floor(fill)));
}

}  // namespace

Pipeline NamingPart(const Pipeline& steady) {
  constexpr std::size_t kNamingBatches = 128;
  constexpr std::size_t kNamingTasks = 1024;
  return Shortened(steady, kNamingBatches, kNamingTasks);
}

Factor BottleneckUnder(const Pipeline& naming, Setting setting, const LoaderFacts& facts) {
  constexpr int kNamingCredits = 64;  // more credits do not hide more jitter
  const int each = naming.sample_tasks ? 1 : std::max(1, setting.workers);
  setting.prefetch = std::min(setting.prefetch, std::max(2, kNamingCredits / each));
  return Attribute(Apply(naming, setting, facts), RunPart::kSteady).bottleneck;
}

int MostWorkers(const Pipeline& pipeline, const Budget& budget) {
  const double cores = budget.cores > 0 ? std::min(budget.cores, pipeline.cores) : pipeline.cores;
  const int twice_the_cores = static_cast<int>(std::ceil(2 * cores));
  const int most = std::clamp(std::max(twice_the_cores, WorkersThatFillCores(pipeline)), 1, 128);
  if (!pipeline.crowded) return most;
  // The first workers help on a crowded machine too. The gain of further workers is not known.
  return pipeline.workers == 0 ? std::max(1, most / 2) : 0;
}

Suggestion Suggest(const Pipeline& pipeline, const LoaderFacts& facts, const Replay& replay,
                   const Budget& budget) {
  Search search(pipeline, facts, replay, budget);
  int most = MostWorkers(pipeline, budget);
  if (facts.most_workers > 0) most = std::min(most, facts.most_workers);
  search.Consider(pipeline.workers, pipeline.prefetch, true);
  if (pipeline.workers > 0 && facts.most_workers == 0) {
    search.Consider(pipeline.workers, pipeline.prefetch);  // with persistent workers
  }
  if (!pipeline.crowded && !pipeline.sample_tasks) search.Consider(0, 1);
  for (int workers = 1; workers <= most; ++workers) {
    if (pipeline.sample_tasks) {
      for (const int depth : {3, 5, 9, 17}) search.Consider(workers, depth);
      continue;
    }
    bool any_fits = false;
    // A depth of 1 leaves no room for jitter, which the recording may not show by chance.
    for (const int prefetch : {2, 4, 8}) any_fits |= search.Consider(workers, prefetch);
    if (!any_fits) search.Consider(workers, 1);
  }
  search.PreferPersistent();
  Suggestion suggestion;
  const Pipeline naming = NamingPart(SteadyPart(pipeline));
  // Pipelines count the batch that the training loop holds; the reference loader's option does not.
  const int extra = pipeline.sample_tasks ? 1 : 0;
  const auto take = [&](const Setting& setting) {
    suggestion.workers = setting.workers;
    suggestion.prefetch = setting.prefetch - extra;
    suggestion.persistent_workers = setting.persistent.value_or(facts.persistent);
    suggestion.changes =
        setting.workers != pipeline.workers ||
        (setting.workers > 0 && (setting.prefetch != pipeline.prefetch ||
                                 suggestion.persistent_workers != facts.persistent));
    const Pipeline changed = Apply(pipeline, setting, facts);
    suggestion.predicted = Predict(pipeline, changed, replay);
    suggestion.predicted.ram = RamOf(pipeline, setting, facts);
    suggestion.next_bottleneck = suggestion.changes ? BottleneckUnder(naming, setting, facts)
                                                    : Attribute(changed).bottleneck;
  };
  Setting recorded;
  recorded.workers = pipeline.workers;
  recorded.prefetch = pipeline.prefetch;
  suggestion.enough_workers = recorded.workers;
  suggestion.enough_prefetch = recorded.prefetch - extra;
  if (search.empty()) {
    suggestion.workers = recorded.workers;
    suggestion.prefetch = recorded.prefetch - extra;
    suggestion.persistent_workers = facts.persistent;
    return suggestion;
  }
  const CandidateSetting& chosen = search.Choose();
  suggestion.enough_workers = chosen.setting.workers;
  suggestion.enough_prefetch = chosen.setting.prefetch - extra;
  take(chosen.setting);
  if (suggestion.changes && !suggestion.predicted.SurelyGains()) take(recorded);
  return suggestion;
}

}  // namespace penstock::analyzer
