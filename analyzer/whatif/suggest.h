// SPDX-License-Identifier: Apache-2.0
//
// Searches loader settings in the simulator. Values; pure functions.
#pragma once

#include <cstdint>

#include "analyzer/stats/bootstrap.h"
#include "analyzer/whatif/attribution.h"
#include "analyzer/whatif/pipeline.h"

namespace penstock::analyzer {

// How well the simulator repeats what was recorded.
struct Replay {
  double measured = 0;  // samples per second, steady
  double simulated = 0;
  [[nodiscard]] double error() const { return measured > 0 ? simulated / measured - 1 : 0; }
  // Factor that brings a simulated rate to the measured scale.
  [[nodiscard]] double correction() const { return simulated > 0 ? measured / simulated : 1; }
};

struct Prediction {
  Interval rate;          // samples per second: resampling of the run widened by the replay error
  double speedup = 1;     // over the recorded configuration, start-up included
  std::uint64_t ram = 0;  // bytes of batches on their way
};

// Predicted rate of `changed`, a variation of `base`.
[[nodiscard]] Prediction Predict(const Pipeline& base, const Pipeline& changed,
                                 const Replay& replay, const Interval& measured);

// `pipeline` with another number of workers and depth. From 0 workers the cost of handing batches
// over was not seen; 0.8 ms each for worker and consumer and 1 ns a byte are assumed.
[[nodiscard]] Pipeline WithWorkers(const Pipeline& pipeline, int workers, int prefetch,
                                   double batch_bytes);

struct Suggestion {
  int workers = 0;
  int prefetch = 2;
  bool persistent_workers = false;
  bool changes = false;  // differs from what was recorded
  Prediction predicted;
  Factor next_bottleneck = Factor::kNone;
};

// Cheapest of W in 0..2*cores and P in {2, 4, 8}, 1 where memory allows no more, within 2 % of the
// best predicted (diagnosis.md section 5 rule 6). The recorded setting takes part; on a crowded
// machine it is the only one, unless there were no workers at all.
// Cost: O(8 * cores) simulations.
[[nodiscard]] Suggestion Suggest(const Pipeline& pipeline, const LoaderRun& run,
                                 const Replay& replay, const Interval& measured,
                                 double shared_memory);

// Median bytes of a collated batch; 0 if not recorded.
[[nodiscard]] double BatchBytes(const LoaderRun& run);

}  // namespace penstock::analyzer
