// SPDX-License-Identifier: Apache-2.0
//
// Computes a predicted rate, with an interval, from a simulated rate. Values; pure functions.
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
  // The simulated rate of the recorded setting in a run without end. Predicted rates are simulated
  // in the same way, so their speed-up is relative to this rate.
  double steady = 0;
  // The measured rate divided by the simulated ceiling if the loop was faster than this ceiling;
  // else 1. Ceilings are multiplied by `lift`.
  double lift = 1;
  [[nodiscard]] double error() const { return measured > 0 ? simulated / measured - 1 : 0; }
  // Factor that brings a simulated rate to the measured scale.
  [[nodiscard]] double correction() const { return simulated > 0 ? measured / simulated : 1; }
};

struct Prediction {
  Interval rate;          // samples per second, 90 %; the steady rate, until OnBase() relates it to
                          // the base
  double speedup = 1;     // over the recorded setting, start-up included if it recurs
  double steady = 1;      // speed-up of the steady part alone
  double most = 0;        // the steady rate if the data cost nothing; 0: not known
  std::uint64_t ram = 0;  // bytes of batches in flight and of the workers
  bool at_most = false;   // the gain is an upper bound; there may be no gain at all
  Statement refused;      // why rate and speed-up are not known; empty: they are known

  // Whether the low end of the interval is still faster than the recorded setting.
  [[nodiscard]] bool SurelyGains() const {
    return rate.estimate > 0 && speedup * rate.low > rate.estimate;
  }
};

// The steady rate of `steady` (from SteadyPart()) on the scale of the recording.
//
// Estimator: simulated rate times measured / simulated of the replay. The width of the confidence
//            interval is the square root of the sum of squares of three parts. First, the spread
//            between parts of the same data: a moving-block bootstrap of the simulated times
//            between deliveries, in blocks of as many batches as there are credits. Second, the
//            replay's error and the possible error of assumptions (Pipeline::doubt). Third, the
//            difference between runs of one program: 4 % (kMeasuredNoise), and 6 % of the computing
//            of worker processes (kSpeedNoise). The upper end also includes Pipeline::beside_step.
// Assumes:   service times are like the recorded ones, and the model error is like that of the
//            replay.
// Errors:    a rate that breaks a law (laws.h) is refused, and the law is named. All
//            predicted rates that a user sees come from here, so none of them breaks a law.
[[nodiscard]] Predicted<Interval> PredictSteady(const Pipeline& steady, const Replay& replay);

// The replay of a recording whose steady rate was `measured`. `whole` is all of the recording;
// predictions start from `pipeline`. Cost: three simulations.
[[nodiscard]] Replay ReplayOf(const Pipeline& whole, const Pipeline& pipeline, double measured);

// Seconds that the recorded work would take: with the start-up of each epoch if start-up recurs
// (StartRecurs()), otherwise at the steady rate.
[[nodiscard]] double TimeOf(const Pipeline& pipeline);
// The same, with the simulated steady rate already known.
[[nodiscard]] double TimeOf(const Pipeline& pipeline, double steady_rate);
[[nodiscard]] bool StartRecurs(const Pipeline& pipeline);
// Seconds of start-up that only the first epoch has, because its workers stay: no later epoch takes
// a tenth as long to start (ours). 0: there is none.
[[nodiscard]] double StartOnce(const Pipeline& pipeline);

// The steady rate if data cost nothing: only the recorded steps and copies to the device are left.
// So the replay's error, which is that of the whole data path, does not apply. At most
// kMostHeadroom times the measured rate; for the recorded pipeline at least the measured rate.
[[nodiscard]] double CeilingRate(const Pipeline& pipeline, const Replay& replay);

// The predicted effect of `changed`, a variation of `base`. If its rate is refused, the speed-up is
// 1, so conditions that ask for a gain do not hold. Requires: replay is ReplayOf(), with `base`.
[[nodiscard]] Prediction Predict(const Pipeline& base, const Pipeline& changed,
                                 const Replay& replay);

}  // namespace penstock::analyzer
