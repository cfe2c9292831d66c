// SPDX-License-Identifier: Apache-2.0
//
// The part of a run that says how fast it goes on: without the start of each epoch and without
// pauses (checkpoints, validation). Values; pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/model/run_model.h"
#include "analyzer/stats/bootstrap.h"

namespace penstock::analyzer {

struct Pause {
  double length = 0;      // seconds
  std::size_t batch = 0;  // index into LoaderRun::batches of the step that was long
};

// The loop's rate changed and did not change back.
struct RegimeChange {
  std::size_t batch = 0;     // index into LoaderRun::batches: the first of the new regime
  std::int64_t at = kNever;  // when the one before it was delivered, on the trace's clock
  double before = 0;         // samples per second, of the regime before
  double after = 0;
};

struct SteadyState {
  bool steady = false;      // enough batches were left to call it that
  std::size_t batches = 0;  // intervals in the window
  double time = 0;          // seconds, without pauses
  double wait = 0;          // seconds of it in next()
  double samples = 0;
  Interval rate;  // samples per second, 90 % interval
  double pauses_time = 0;
  std::vector<Pause> pauses;  // in the window
  std::vector<bool> paused;   // by batch, of the whole run: its step was one
  std::vector<std::pair<std::int64_t, std::int64_t>> windows;  // by epoch, first to last delivery
  std::int64_t from = kNever;  // of the whole window, on the trace's clock
  std::int64_t to = kNever;
  std::optional<RegimeChange> change;  // the last one: all of this is of the regime after it
  std::vector<bool> in_window;         // by batch: its interval counts
  std::vector<double> intervals;       // seconds from the delivery before to its own, window only
  std::vector<double> waits;

  [[nodiscard]] double wait_fraction() const { return time > 0 ? wait / time : 0; }
  [[nodiscard]] double batch_rate() const {
    return time > 0 ? static_cast<double>(batches) / time : 0;
  }
};

// Drops the first credits() batches of each epoch (at most half of them) and pauses, and what came
// before the rate changed for good: both regimes together are the speed of neither, and the run
// goes on in the last. A change is one to 1.25 times the rate or beyond, either way, with at least
// 32 batches, two seconds and an eighth of the batches on each side (ours; FindShifts()). Batches
// of a loader that is drained together with others have no rate of their own.
//
// Source: docs/diagnosis.md 5.1; pauses are steps over mean + 3 sd (SageMaker's
// StepOutlier) that are also three ordinary turns of the loop, and at most one in twenty.
[[nodiscard]] SteadyState FindSteadyState(const LoaderRun& run);

// Number of batches of an epoch that FindSteadyState drops.
[[nodiscard]] std::size_t WarmUp(const LoaderConfig& config, std::size_t batches);

// The loop without the batches that fill its queues: of each epoch those that WarmUp() counts, and
// the first in any case.
struct SteadyLoop {
  std::vector<bool> steady;  // by batch: it counts
  double time = 0;           // seconds of those that count, from next() to next()
  double wait = 0;           // seconds of it in next()

  [[nodiscard]] double wait_fraction() const { return time > 0 ? wait / time : 0; }
};
[[nodiscard]] SteadyLoop MeasureLoop(const LoaderRun& run);

// Samples of one batch, as well as they are known.
[[nodiscard]] double SamplesOf(const LoaderRun& run, const Batch& batch);

}  // namespace penstock::analyzer
