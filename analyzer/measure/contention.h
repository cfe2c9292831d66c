// SPDX-License-Identifier: Apache-2.0
//
// Splits recorded waiting into two parts. Waiting for a file, a clock or a lock stays the same
// under other settings. Waiting for a core changes, and the simulator adds it by itself. Pure.
#pragma once

#include <functional>
#include <span>

#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// The share of the recorded waiting (wall minus CPU time of the parts of a batch) that is not
// waiting for a core. With this share, a simulation of `pipeline` takes as long to make the batches
// as the recording did. 1 if the simulation takes at most 1 % longer with all of the waiting, if
// there are no worker processes, or if no batch is counted.
//
// Shapes:   making: [batches of the pipeline], seconds; only counted batches matter.
// Source:   ours. A thread that wakes up waits for a core however little it has to compute. For
//           decoding, the time spent waiting for cores can be estimated from the CPU time; for
//           reads it cannot.
// Requires: shared storage, if there is any, is already set in the pipeline.
// Cost:     at most eight simulations of up to 1024 batches.
[[nodiscard]] double GenuineWaiting(const Pipeline& pipeline, std::span<const double> making);

// Multiplies the waiting (wall minus CPU time) of batches, warm-up and slower workers by `share`.
void ScaleWaiting(Pipeline& pipeline, double share);

// Compares the time that making batches took in the recording with the time in a simulation. Uses
// the counted batches among the first 1024 of the pipeline. If the first counted batch comes late,
// the 1024 batches begin with it.
class MakingReplay {
 public:
  // Shapes: making: as above.
  MakingReplay(const Pipeline& pipeline, std::span<const double> making);

  // Seconds that making the counted batches took in the recording.
  [[nodiscard]] double recorded() const { return recorded_; }
  // Seconds that making these batches takes in a simulation, after `change` has modified the
  // pipeline.
  [[nodiscard]] double Simulated(const std::function<void(Pipeline&)>& change) const;

 private:
  Pipeline part_;
  double recorded_ = 0;
};

}  // namespace penstock::analyzer
