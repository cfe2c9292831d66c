// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "analyzer/predict/laws.h"
#include "analyzer/predict/predict.h"
#include "analyzer/predict/suggest.h"
#include "analyzer/simulate/simulate.h"

namespace penstock::analyzer {
namespace {

struct Tried {
  Combination one;
  double time = 0;
};

void AddOnce(const Combination& one, std::vector<Combination>& list) {
  if (std::find(list.begin(), list.end(), one) == list.end()) list.push_back(one);
}

// Tries combinations while simulations are left, and keeps the results.
class Trials {
 public:
  Trials(PlanSpace& space, int most) : space_(space), most_(most) {}
  void Extend(int most) { most_ = most; }

  void Try(LeverSet set, const Combination& arguments) {
    Combination one = arguments;
    one.levers = set;
    if (space_.simulations() >= most_) return;
    if (std::any_of(all_.begin(), all_.end(), [&](const Tried& t) { return t.one == one; })) return;
    if (!space_.Fits(one)) return;
    const double time = space_.Time(one);
    if (time > 0) all_.push_back({one, time});
  }
  [[nodiscard]] double Best() const {
    double best = std::numeric_limits<double>::infinity();
    for (const Tried& tried : all_) best = std::min(best, tried.time);
    return best;
  }
  [[nodiscard]] std::optional<double> TimeOf(const Combination& one) const {
    for (const Tried& tried : all_) {
      if (tried.one == one) return tried.time;
    }
    return std::nullopt;
  }
  // The fastest combination with the levers `set`; if `set` is nullopt, with any levers.
  [[nodiscard]] std::optional<Combination> Fastest(std::optional<LeverSet> set) const {
    const Tried* best = nullptr;
    for (const Tried& tried : all_) {
      if (set && tried.one.levers != *set) continue;
      if (best == nullptr || tried.time < best->time) best = &tried;
    }
    return best == nullptr ? std::nullopt : std::optional(best->one);
  }
  [[nodiscard]] std::optional<Combination> Cheapest(double within) const {
    const Tried* chosen = nullptr;
    for (const Tried& tried : all_) {
      if (tried.time > within) continue;
      if (chosen == nullptr || space_.Cheaper(tried.one, chosen->one)) chosen = &tried;
    }
    return chosen == nullptr ? std::nullopt : std::optional(chosen->one);
  }

 private:
  PlanSpace& space_;
  int most_;
  std::vector<Tried> all_;
};

// Those of `arguments` with 0, 1, 2, 3, 4, 6, 8, 12, 16 and so on workers, at the least and the
// greatest depth.
std::vector<Combination> Ladder(const std::vector<Combination>& arguments) {
  std::vector<Combination> ladder;
  for (const Combination& one : arguments) {
    const auto count = static_cast<unsigned>(one.workers);
    const unsigned top = count & (~count + 1);  // its lowest bit
    const bool round = count <= 4 || count == top || count == 3 * top;
    if (!round) continue;
    bool least = true;
    bool most = true;
    for (const Combination& other : arguments) {
      if (other.workers != one.workers) continue;
      least = least && one.prefetch <= other.prefetch;
      most = most && one.prefetch >= other.prefetch;
    }
    if (least || most) AddOnce(one, ladder);
  }
  return ladder;
}

std::vector<LeverSet> SetsOf(LeverSet of, const Levers& levers) {
  std::vector<LeverSet> sets;
  LeverSet set = 0;
  do {
    if (levers.Allows(set)) sets.push_back(set);
    set = (set - of) & of;
  } while (set != 0);
  return sets;
}

// The sets of levers from `of` to which no other lever of `of` can be added. Levers that exclude no
// other lever are in every such set, so only the other levers are varied.
std::vector<LeverSet> Fullest(LeverSet of, const Levers& levers) {
  LeverSet choice = 0;
  for (std::size_t i = 0; i < levers.all.size(); ++i) {
    if ((of >> i & 1) != 0 && (levers.excludes[i] & of) != 0) choice |= LeverSet{1} << i;
  }
  std::vector<LeverSet> full;
  for (const LeverSet set : SetsOf(choice, levers)) {
    bool more = false;
    for (std::size_t i = 0; i < levers.all.size(); ++i) {
      const LeverSet own = LeverSet{1} << i;
      more = more || ((choice & own) != 0 && (set & own) == 0 && levers.Allows(set | own));
    }
    if (!more) full.push_back(set | (of & ~choice));
  }
  return full;
}

// The levers that gain something by themselves or on top of all others; at most the eight that gain
// most. Stops after about `most` simulations.
LeverSet Promising(PlanSpace& space, const Levers& levers, const Combination& arguments,
                   LeverSet without, int most) {
  constexpr std::size_t kMostSearched = 8;
  constexpr double kSomething = 1.005;
  const LeverSet all = ((LeverSet{1} << levers.all.size()) - 1) & ~without;
  std::vector<std::pair<double, std::size_t>> gains;
  for (std::size_t i = 0; i < levers.all.size(); ++i) gains.emplace_back(0.0, i);
  const auto time_with = [&](LeverSet set) {
    Combination one = arguments;
    one.levers = set;
    return space.Time(one);
  };
  const auto weigh = [&](double before, double after, std::size_t i) {
    if (after > 0) gains[i].first = std::max(gains[i].first, before / after);
  };
  const int end = space.simulations() + most;
  const double alone = time_with(0);
  for (std::size_t i = 0; i < levers.all.size(); ++i) {
    const LeverSet own = LeverSet{1} << i;
    if ((all & own) != 0) weigh(alone, time_with(own), i);
  }
  for (const LeverSet full : Fullest(all, levers)) {
    if (space.simulations() >= end) break;
    const double together = time_with(full);
    for (std::size_t i = 0; i < levers.all.size(); ++i) {
      const LeverSet own = LeverSet{1} << i;
      if ((full & own) != 0) weigh(time_with(full & ~own), together, i);
    }
  }
  std::stable_sort(gains.begin(), gains.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  LeverSet set = 0;
  for (std::size_t k = 0; k < std::min(kMostSearched, gains.size()); ++k) {
    if (gains[k].first >= kSomething) set |= LeverSet{1} << gains[k].second;
  }
  return set;
}

// The same number of batches from each of the first epochs, with the epochs' start-up in
// proportion.
Pipeline ExcerptOf(const Pipeline& pipeline) {
  constexpr std::size_t kEpochs = 4;
  const std::size_t epochs = std::min(kEpochs, pipeline.epochs.size());
  if (epochs < 2) return Shortened(pipeline, PlanSpace::kBatches, PlanSpace::kTasks);
  Pipeline part = pipeline;
  part.epochs.clear();
  for (std::size_t e = 0; e < epochs; ++e) {
    Pipeline one = part;
    one.epochs = {pipeline.epochs[e]};
    one = Shortened(one, PlanSpace::kBatches / epochs, PlanSpace::kTasks / epochs);
    if (!one.epochs.empty()) part.epochs.push_back(std::move(one.epochs.front()));
  }
  return part;
}

}  // namespace

PlanSpace::PlanSpace(const LoaderDiagnosis& loader, const Levers& levers, const Budget& budget)
    : loader_(loader), levers_(levers), budget_(budget), pipeline_(ExcerptOf(loader.pipeline)) {}

Combination PlanSpace::recorded() const {
  return {0, pipeline_.workers, pipeline_.prefetch};
}

std::vector<Combination> PlanSpace::Arguments() const {
  std::vector<Combination> all = {recorded()};
  int most = MostWorkers(pipeline_, budget_);
  if (loader_.facts.most_workers > 0) most = std::min(most, loader_.facts.most_workers);
  // Running without workers is tried only if Suggest() chose it: Suggest() considers that workers
  // can stay between epochs.
  if (loader_.suggestion.workers == 0) AddOnce({0, 0, 1}, all);
  for (int workers = 1; workers <= most; ++workers) {
    if (pipeline_.sample_tasks) {
      for (const int depth : {3, 5, 9, 17}) AddOnce({0, workers, depth}, all);
      continue;
    }
    bool any = false;
    for (const int prefetch : {2, 4, 8}) {
      const Combination one{0, workers, prefetch};
      any = any || Room(one, 0, loader_.facts);
      AddOnce(one, all);
    }
    if (!any) AddOnce({0, workers, 1}, all);
  }
  return all;
}

Setting PlanSpace::SettingOf(const Combination& one) const {
  Setting setting;
  setting.workers = one.workers;
  setting.prefetch = one.prefetch;
  if (levers_.Stays(one.levers) && one.workers > 0) setting.persistent = true;
  return setting;
}

const Changed* PlanSpace::With(LeverSet set) {
  if (!changed_ || last_ != set) {
    auto changed = ApplyLevers(pipeline_, loader_, levers_, set);
    changed_ = changed ? std::optional(*std::move(changed)) : std::nullopt;
    last_ = set;
  }
  return changed_ ? &*changed_ : nullptr;
}

double PlanSpace::Time(const Combination& one) {
  const Changed* changed = With(one.levers);
  if (changed == nullptr) return 0;
  ++simulations_;
  const Pipeline pipeline = Apply(changed->pipeline, SettingOf(one), changed->facts);
  const Pipeline steady = SteadyPart(pipeline);
  const double rate = SimulateSteady(steady).rate();
  if (one != recorded() && !BrokenLaw(steady, rate * loader_.replay.correction()).empty()) return 0;
  return TimeOf(pipeline, rate);
}

bool PlanSpace::Room(const Combination& one, double memory, const LoaderFacts& facts) const {
  const Setting setting = SettingOf(one);
  const double ram = memory + static_cast<double>(RamOf(pipeline_, setting, facts));
  return !(budget_.ram > 0 && ram > budget_.ram) &&
         !(budget_.shared_memory > 0 &&
           SharedMemoryOf(pipeline_, setting, facts) > budget_.shared_memory);
}

bool PlanSpace::Fits(const Combination& one) {
  const Changed* changed = With(one.levers);
  if (changed == nullptr) return false;
  Combination arguments = one;
  arguments.levers = 0;
  // The recorded setting ran, so it fits if the changes take no memory of their own.
  if (arguments == recorded() && !(changed->memory > 0)) return true;
  return Room(one, changed->memory, changed->facts);
}

int PlanSpace::Effort(const Combination& one) const {
  int effort = 0;
  for (std::size_t i = 0; i < levers_.all.size(); ++i) {
    if ((one.levers >> i & 1) != 0) effort += levers_.all[i].effort;
  }
  effort += one.workers != pipeline_.workers ? 1 : 0;
  effort += one.workers > 0 && one.prefetch != pipeline_.prefetch ? 1 : 0;
  return effort;
}

bool PlanSpace::Cheaper(const Combination& a, const Combination& b) const {
  return std::make_tuple(Effort(a), a.workers, a.prefetch, a.levers) <
         std::make_tuple(Effort(b), b.workers, b.prefetch, b.levers);
}

Combination SearchPlan(PlanSpace& space, const Levers& levers, const Combination& suggested,
                       LeverSet without, int most) {
  const int end = space.simulations() + most;
  const int left = most / 5;  // simulations reserved for the last search of arguments
  const std::vector<Combination> arguments = space.Arguments();
  const std::vector<Combination> ladder = Ladder(arguments);
  Trials trials(space, end - left);
  trials.Try(0, space.recorded());
  trials.Try(0, suggested);
  for (const Combination& one : ladder) trials.Try(0, one);
  std::vector<Combination> good = {space.recorded(), suggested};
  if (const auto fastest = trials.Fastest(LeverSet{0})) AddOnce(*fastest, good);
  const LeverSet promising = Promising(space, levers, good.back(), without, most / 2);
  for (const LeverSet full : Fullest(promising, levers)) {
    for (const Combination& one : ladder) trials.Try(full, one);
    if (auto fastest = trials.Fastest(full)) {
      fastest->levers = 0;
      AddOnce(*fastest, good);
    }
  }
  std::vector<LeverSet> sets = SetsOf(promising, levers);
  std::stable_sort(sets.begin(), sets.end(), [&](LeverSet a, LeverSet b) {
    return space.Effort({a, suggested.workers, suggested.prefetch}) <
           space.Effort({b, suggested.workers, suggested.prefetch});
  });
  for (const LeverSet set : sets) {
    for (const Combination& one : good) trials.Try(set, one);
  }
  const auto cheapest = trials.Cheapest(trials.Best() * (1 + kPlanTolerance));
  if (!cheapest) return space.recorded();
  trials.Extend(end);
  for (const LeverSet set : {cheapest->levers, trials.Fastest({})->levers}) {
    const int workers = trials.Fastest(set)->workers;
    for (const Combination& one : arguments) {
      const bool near = 2 * one.workers >= workers && one.workers <= 2 * workers;
      if (near || arguments.size() <= 50) trials.Try(set, one);
    }
  }
  const double within = trials.Best() * (1 + kPlanTolerance);
  Combination chosen = *trials.Cheapest(within);
  Combination same = suggested;
  same.levers = chosen.levers;
  const auto as_suggested = trials.TimeOf(same);
  if (as_suggested && *as_suggested <= within && space.Effort(same) <= space.Effort(chosen)) {
    chosen = same;
  }
  return chosen;
}

}  // namespace penstock::analyzer
