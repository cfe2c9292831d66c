// SPDX-License-Identifier: Apache-2.0
//
// Names the bottleneck: each factor of a loader model is made free in turn, and the factor that
// gains most holds the run back. Values; pure functions.
#pragma once

#include <vector>

#include "analyzer/predict/factors.h"
#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// The largest speed-up that is reported. A run that reaches it does hardly anything else.
inline constexpr double kMostHeadroom = 1000;

struct Gain {
  Factor factor = Factor::kNone;
  double speedup = 1;  // speed-up of the RunPart that was asked for
};

struct Attribution {
  Factor bottleneck = Factor::kNone;
  Factor runner_up = Factor::kNone;
  std::vector<Gain> gains;  // descending; every factor that applies
  double headroom = 1;      // speedup if all data cost nothing, at most kMostHeadroom
  // 0: the runner-up gains as much; 1: only the bottleneck gains. If there is no bottleneck, 0: a
  // factor nearly gains enough to be one; 1: no factor gains anything.
  double margin = 0;

  [[nodiscard]] double SpeedupOf(Factor factor) const;
  // Another part of the data path that gains as much as the part `factor`, within 2 %, so that the
  // run may as well be limited by it; kNone: there is none.
  [[nodiscard]] Factor AsGood(Factor factor) const;
  // The run is almost nothing but data, so headroom is not a meaningful figure.
  [[nodiscard]] bool all_data() const { return headroom > 0.999 * kMostHeadroom; }
};

// The same for gains of other sources; `headroom`: the speedup if all data cost nothing.
[[nodiscard]] Factor AsGood(const std::vector<Gain>& gains, double headroom, Factor factor);

// The pipeline with `factor` at no cost. The extra cost of first batches (imports, tables that are
// made on first use) belongs to start-up, whichever stage it arises in.
[[nodiscard]] Pipeline Idealise(const Pipeline& pipeline, Factor factor);

// The pipeline with data at no cost. Only copies to the device and steps are left; steps are
// without the transforms that the loop computes itself.
[[nodiscard]] Pipeline WithoutData(const Pipeline& pipeline);

enum class RunPart {
  kWholeRun,  // start-up included
  kSteady,    // for pipelines of SteadyPart()
};

// Differential attribution (docs/diagnosis.md 3.9).
//
// If no factor gains 5 %, the bottleneck is kNone. If the whole data path gains less than the step,
// only kCompute and kH2d can be named. Otherwise, without workers, kCompute is not named. There the
// step and the stages take turns, and each gains the time that it takes. So if the data path has
// many stages, none of them would ever gain most. kPrefetch is named if removing variance alone
// saves most of the time that removing the largest factor saves. Then the mean costs are low
// enough, and no stage has to become cheaper.
//
// Cost: at most twelve simulations.
[[nodiscard]] Attribution Attribute(const Pipeline& pipeline, RunPart part = RunPart::kWholeRun);

}  // namespace penstock::analyzer
