// SPDX-License-Identifier: Apache-2.0
//
// Recorded waiting holds two things: what was waited for (a file, a clock, a lock), which other
// settings do not change, and waiting for a core, which the simulator adds by itself. Pure.
#pragma once

#include <functional>
#include <span>

#include "analyzer/simulate/pipeline.h"

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

// The first thousand batches of a pipeline, beside the time that the recording took to make them.
class MakingReplay {
 public:
  // Shapes: making: as above.
  MakingReplay(const Pipeline& pipeline, std::span<const double> making);

  // Seconds.
  [[nodiscard]] double recorded() const { return recorded_; }
  // Likewise, of the replay with what `change` makes of them.
  [[nodiscard]] double Simulated(const std::function<void(Pipeline&)>& change) const;

 private:
  Pipeline part_;
  double recorded_ = 0;
};

}  // namespace penstock::analyzer
