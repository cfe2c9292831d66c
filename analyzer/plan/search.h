// SPDX-License-Identifier: Apache-2.0
//
// Combinations of levers and loader arguments in the simulator. Values; single-threaded.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/model/loader_memory.h"
#include "analyzer/plan/levers.h"

namespace penstock::analyzer {

// The loader's arguments and a set of levers.
struct Combination {
  LeverSet levers = 0;
  int workers = 0;
  int prefetch = 2;  // as pipelines count it

  bool operator==(const Combination& other) const = default;
};

// What combinations take and need, on a part of a recording.
class PlanSpace {
 public:
  static constexpr std::size_t kBatches = 256;  // of some epochs, each in proportion
  static constexpr std::size_t kTasks = 2048;   // samples, where threads share batches

  // Refer to their arguments.
  PlanSpace(const LoaderDiagnosis& loader, const Levers& levers, const Budget& budget);

  [[nodiscard]] Combination recorded() const;
  // Numbers of workers and depths that Suggest() tries; the first are those of the run.
  [[nodiscard]] std::vector<Combination> Arguments() const;
  // Seconds that the recorded work would take; 0: levers contradict each other, or the rate breaks
  // a law (predict/laws.h).
  [[nodiscard]] double Time(const Combination& one);
  // Memory and /dev/shm have room for it; what was recorded did run.
  [[nodiscard]] bool Fits(const Combination& one);
  [[nodiscard]] Setting SettingOf(const Combination& one) const;
  // By the effort of levers, changed arguments, workers and depth; `a` takes less.
  [[nodiscard]] bool Cheaper(const Combination& a, const Combination& b) const;
  [[nodiscard]] int Effort(const Combination& one) const;
  [[nodiscard]] int simulations() const { return simulations_; }

 private:
  const Changed* With(LeverSet set);  // the last one is kept
  [[nodiscard]] bool Room(const Combination& one, double memory, const LoaderFacts& facts) const;

  const LoaderDiagnosis& loader_;
  const Levers& levers_;
  const Budget& budget_;
  Pipeline pipeline_;  // shortened
  LeverSet last_ = 0;  // of `changed_`
  std::optional<Changed> changed_;
  int simulations_ = 0;
};

inline constexpr double kPlanTolerance = 0.02;
inline constexpr int kMostSimulations = 1000;

// The cheapest within 2 % of the best of: all sets of the eight most promising levers with the
// arguments that are best for some of them, then the chosen sets with all arguments near theirs. At
// most kMostSimulations. Suggested arguments are kept where they are as good.
[[nodiscard]] Combination SearchPlan(PlanSpace& space, const Levers& levers,
                                     const Combination& suggested);

}  // namespace penstock::analyzer
