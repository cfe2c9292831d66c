// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/step_gains.h"

#include <algorithm>

namespace penstock::analyzer {

double WidthBelow(const Prediction& predicted) {
  const Interval& rate = predicted.rate;
  return rate.estimate > 0 ? 1 - rate.low / rate.estimate : 1;
}

bool Gains(double gain, const Prediction& predicted) {
  return gain * (1 - WidthBelow(predicted)) > 1;
}

bool GainsTogether(double plan, double before, const Prediction& predicted) {
  // If pending steps before this step slow the run down, the step may only make up for them. Then
  // it gains on top of them, but not over the plan without them.
  return Gains(predicted.speedup / before, predicted) && Gains(predicted.speedup / plan, predicted);
}

bool GainsWithNext(const std::vector<PlanStep>& steps, std::size_t i) {
  double gain = steps[i].gain;
  if (Gains(gain, steps[i].predicted)) return false;
  for (std::size_t next = i + 1; next < steps.size(); ++next) {
    gain *= steps[next].gain;
    if (Gains(gain, steps[next].predicted)) return true;
  }
  return false;
}

void NameLimits(const std::vector<Attribution>& after, double free, std::vector<PlanStep>& steps) {
  constexpr double kPasses = 1.05;     // as in attribution
  constexpr double kMostOfLoop = 1.1;  // the step takes 10/11 of the loop, whatever gains the rest
  double reached = 0;                  // by the steps that follow
  for (std::size_t i = steps.size(); i-- > 0;) {
    const double speedup = steps[i].predicted.speedup;
    steps[i].limited_by = after[i].bottleneck;
    const bool passed = reached >= kPasses * speedup || free >= kMostOfLoop * speedup;
    if (steps[i].limited_by == Factor::kCompute && passed) {
      const auto& gains = after[i].gains;  // descending
      const auto most = std::find_if(gains.begin(), gains.end(), [](const Gain& gain) {
        return gain.factor != Factor::kCompute;
      });
      if (most != gains.end()) steps[i].limited_by = most->factor;
    }
    steps[i].also_limits = after[i].AsGood(steps[i].limited_by);
    reached = std::max(reached, speedup);
  }
}

}  // namespace penstock::analyzer
