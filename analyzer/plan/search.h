// SPDX-License-Identifier: Apache-2.0
//
// Tries combinations of levers and loader arguments in the simulator. Values; single-threaded.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/model/loader_memory.h"
#include "analyzer/plan/levers.h"

namespace penstock::analyzer {

// Arguments of the loader and a set of levers.
struct Combination {
  LeverSet levers = 0;
  int workers = 0;
  int prefetch = 2;  // as Pipeline::prefetch

  bool operator==(const Combination& other) const = default;
};

// Simulates how long combinations take, and computes what they need, on a part of a recording.
class PlanSpace {
 public:
  // The size of this part. The same number of batches comes from each of up to four epochs.
  static constexpr std::size_t kBatches = 256;
  static constexpr std::size_t kTasks = 2048;  // samples, if threads share batches

  // Keeps references to its arguments.
  PlanSpace(const LoaderDiagnosis& loader, const Levers& levers, const Budget& budget);

  [[nodiscard]] Combination recorded() const;
  // The numbers of workers and the depths that Suggest() tries. The recorded ones come first.
  [[nodiscard]] std::vector<Combination> Arguments() const;
  // Seconds that the recorded work would take with `one`. 0 if levers contradict each other, or the
  // recording has no steady part to simulate. Also 0 if the rate breaks a law (predict/laws.h),
  // unless `one` is recorded().
  [[nodiscard]] double Time(const Combination& one);
  // Whether memory and /dev/shm have room for `one`. The recorded arguments always fit, unless
  // levers take memory of their own.
  [[nodiscard]] bool Fits(const Combination& one);
  [[nodiscard]] Setting SettingOf(const Combination& one) const;
  // Whether `a` costs less: by the effort of levers and changed arguments, then by workers, then by
  // depth.
  [[nodiscard]] bool Cheaper(const Combination& a, const Combination& b) const;
  // The sum of the efforts of its levers, and 1 for each changed argument.
  [[nodiscard]] int Effort(const Combination& one) const;
  [[nodiscard]] int simulations() const { return simulations_; }

 private:
  const Changed* With(LeverSet set);  // the last result is kept
  [[nodiscard]] bool Room(const Combination& one, double memory, const LoaderFacts& facts) const;

  const LoaderDiagnosis& loader_;
  const Levers& levers_;
  const Budget& budget_;
  Pipeline pipeline_;  // shortened
  LeverSet last_ = 0;  // the levers of `changed_`
  std::optional<Changed> changed_;
  int simulations_ = 0;
};

inline constexpr double kPlanTolerance = 0.02;
inline constexpr int kMostSimulations = 1000;
inline constexpr int kMostAgain = 600;  // most simulations of a search that leaves levers out

// The cheapest combination within 2 % of the best. Tries all sets of the eight most promising
// levers with the arguments that were best for some of these sets. Then it tries the cheapest and
// the fastest set with further arguments: those with half to twice as many workers, or all if there
// are few. Stops after about `most` simulations. Keeps the suggested arguments if they are as good.
// `without`: levers that the combination must not use.
[[nodiscard]] Combination SearchPlan(PlanSpace& space, const Levers& levers,
                                     const Combination& suggested, LeverSet without = 0,
                                     int most = kMostSimulations);

}  // namespace penstock::analyzer
