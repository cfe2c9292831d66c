// SPDX-License-Identifier: Apache-2.0
//
// Synthetic load of known cost: draws the time of one stage of one sample from (seed, epoch,
// sample, stage), and burns or sleeps for that time. So the costs are the same for any number of
// workers. Costs are values, thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "loader/random/philox.h"
#include "traces/base/result.h"
#include "traces/base/units.h"

namespace penstock::loader {

class StopFlag;

// Reads a time: a number and ns, us, ms or s. A number without a unit is in `unit`.
// Errors: kUsage, also for more than 1,000 hours.
[[nodiscard]] Result<TimeNs> ParseLength(std::string_view text, TimeNs unit);

class Cost {
 public:
  enum class Shape { kConstant, kNormal, kUniform, kExponential, kLognormal, kPareto };

  Cost() = default;  // none

  // Reads "5ms", "5ms±2ms", "5ms+-2" (normal with that standard deviation, cut off at 3 of them,
  // at 0 and at twice the mean), "5ms~uniform:2ms" (3 to 7 ms), "5ms~exponential",
  // "5ms~lognormal:0.5" (sigma of the logarithm), "5ms~pareto:1.5" (shape), each with "burn:" (CPU
  // time) or "sleep:" in front. The first figure is the mean of the distribution. No draw is above
  // 1,000 times that, so the draws of a very heavy tail (lognormal:3, pareto:1.2) have a smaller
  // mean.
  // Units: ns, us, ms, s; a number without a unit is in ms.
  // Errors: kUsage, naming what was read and what is possible.
  static Result<Cost> Parse(std::string_view text, bool burns_by_default);

  [[nodiscard]] bool none() const { return mean_ == 0; }
  [[nodiscard]] bool burns() const { return burns_; }
  [[nodiscard]] Shape shape() const { return shape_; }
  [[nodiscard]] TimeNs mean() const { return TimeNs{static_cast<std::int64_t>(mean_)}; }

  // The cost of one sample in one stage. `operation`: a number of the stage, which gives each stage
  // of a sample its own random numbers. A pure function of its arguments.
  [[nodiscard]] TimeNs Draw(const SampleKey& key, std::uint32_t operation) const;

 private:
  double mean_ = 0;  // ns
  double spread_ = 0;
  Shape shape_ = Shape::kConstant;
  bool burns_ = true;
};

// CPU time of the calling thread. Cost: one system call, 0.2 to 0.4 us.
[[nodiscard]] TimeNs ThreadCpuNow();
// CLOCK_MONOTONIC. Cost: about 25 ns.
[[nodiscard]] TimeNs SteadyNow();

// Uses that much CPU time of the calling thread. Time in which the thread does not run does not
// count. Returns early when `stop` is set. Cost: one reading of the CPU clock each millisecond.
void Burn(TimeNs cpu, const StopFlag& stop);
// Sleeps until that moment of CLOCK_MONOTONIC, or until `stop` is set.
void SleepUntil(TimeNs moment, const StopFlag& stop);
// Burns or sleeps, as the cost says.
void Spend(const Cost& cost, TimeNs amount, const StopFlag& stop);

}  // namespace penstock::loader
