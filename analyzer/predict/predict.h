// SPDX-License-Identifier: Apache-2.0
//
// From a simulated rate to a predicted one, with an interval. Values; pure functions.
#pragma once

#include <cstdint>

#include "analyzer/simulate/pipeline.h"
#include "analyzer/stats/bootstrap.h"
#include "analyzer/words/refusal.h"

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
  Interval rate;          // samples per second, steady, 90 %
  double speedup = 1;     // over the recorded configuration, start-up included where it recurs
  std::uint64_t ram = 0;  // bytes of batches on their way and of the workers
  bool at_most = false;   // an upper bound: the interval begins where nothing is gained
  Statement refused;      // why neither rate nor speedup is known; empty: they are

  // Whether it is faster even at the low end of its interval.
  [[nodiscard]] bool SurelyGains() const {
    return rate.estimate > 0 && speedup * rate.low > rate.estimate;
  }
};

// The steady rate of `steady` (from SteadyPart()) on the scale of the recording.
//
// Estimator: simulated rate times measured / simulated of the replay. Interval: moving-block
//            bootstrap of the simulated intervals between deliveries, blocks of all credits, for
//            what another stretch of the same data would give; in squares with the replay's error,
//            and with 4 % (kMeasuredNoise) by which runs of one program differ.
// Assumes:   services like the recorded ones; a model error like that of the replay.
// Errors:    a rate that breaks a law (laws.h) is refused, with the law. All rates that are shown
//            to anybody come from here.
[[nodiscard]] Predicted<Interval> PredictSteady(const Pipeline& steady, const Replay& replay);

// Seconds that the recorded work would take: with the start-up of each epoch where the recording
// saw epochs end, else at the steady rate for ever.
[[nodiscard]] double TimeOf(const Pipeline& pipeline);
// Likewise, with the simulated steady rate known already.
[[nodiscard]] double TimeOf(const Pipeline& pipeline, double steady_rate);
[[nodiscard]] bool StartRecurs(const Pipeline& pipeline);

// The steady rate if data cost nothing, on the scale of the recording: steps and copies to the
// device are left. At most kMostHeadroom times what was measured.
[[nodiscard]] double CeilingRate(const Pipeline& pipeline, const Replay& replay);

// Predicted effect of `changed`, a variation of `base`. Where its rate is refused, the speedup is
// 1: a condition on what it gains does not hold.
[[nodiscard]] Prediction Predict(const Pipeline& base, const Pipeline& changed,
                                 const Replay& replay);

}  // namespace penstock::analyzer
