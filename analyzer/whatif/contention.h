// SPDX-License-Identifier: Apache-2.0
//
// Recorded waiting holds two things: what was waited for (a file, a clock, a lock), which other
// settings do not change, and waiting for a core, which the simulator adds by itself. Pure.
#pragma once

#include <span>

#include "analyzer/whatif/pipeline.h"

namespace penstock::analyzer {

// The share of its waiting (wall minus CPU time of what makes a batch) with which the replay of
// `pipeline` takes as long to make the batches as the recording did: 1 where it takes no longer
// with all of it.
//
// Shapes:   making: [batches of the pipeline], seconds; only of the counted ones it matters.
// Source:   ours. A thread that wakes up waits for its turn however little it has to do, so that
//           what reads wait in vain cannot be told from their CPU time, as of decoding.
// Requires: worker processes; the pipeline shares storage, if at all, as simulated.
// Cost:     at most eight simulations of the first thousand batches.
[[nodiscard]] double GenuineWaiting(const Pipeline& pipeline, std::span<const double> making);

void ScaleWaiting(Pipeline& pipeline, double share);

// Seconds that the recording took to make the first thousand batches, and the replay of `pipeline`.
// Shapes: making: as above.
struct Making {
  double recorded = 0;
  double simulated = 0;
};
[[nodiscard]] Making CompareMaking(const Pipeline& pipeline, std::span<const double> making);

}  // namespace penstock::analyzer
