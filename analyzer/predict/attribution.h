// SPDX-License-Identifier: Apache-2.0
//
// Names the bottleneck: each factor of a pipeline is made free in turn, and the one whose absence
// gains most holds the run back. Values; pure functions.
#pragma once

#include <vector>

#include "analyzer/predict/factors.h"
#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// The largest speedup that is told: there the run does hardly anything else.
inline constexpr double kMostHeadroom = 1000;

struct Gain {
  Factor factor = Factor::kNone;
  double speedup = 1;  // of the whole run, start-up included
};

struct Attribution {
  Factor bottleneck = Factor::kNone;
  Factor runner_up = Factor::kNone;
  std::vector<Gain> gains;  // descending; every factor that applies
  double headroom = 1;      // speedup if all data cost nothing, at most kMostHeadroom
  double margin = 0;        // 0: tied with the runner-up, 1: it alone gains

  [[nodiscard]] double SpeedupOf(Factor factor) const;
  // Without the data hardly anything would be left of the run: headroom is no figure then.
  [[nodiscard]] bool all_data() const { return headroom > 0.999 * kMostHeadroom; }
};

// The pipeline with `factor` costing nothing. What the first batches take beyond others is the
// start's, whichever stage it falls into: imports and tables that are made on first use.
[[nodiscard]] Pipeline Idealise(const Pipeline& pipeline, Factor factor);

// The pipeline whose data cost nothing: steps and copies to the device are left.
[[nodiscard]] Pipeline WithoutData(const Pipeline& pipeline);

// Differential attribution (docs/diagnosis.md 3.9).
//
// Below a gain of 5 % the answer is kNone. Without workers, where the step and the stages take
// turns and each gains what it takes, kCompute is named only if the whole data path gains less than
// the step: otherwise a data path split into many stages would never be named. kPrefetch is named
// when removing variance alone saves most of what removing the largest factor saves: the mean rate
// suffices then, and nothing need get cheaper.
//
// Cost: about twelve simulations.
enum class RunPart { kWholeRun, kSteady };  // kSteady: of a pipeline from SteadyPart(); no start-up
[[nodiscard]] Attribution Attribute(const Pipeline& pipeline, RunPart part = RunPart::kWholeRun);

}  // namespace penstock::analyzer
