// SPDX-License-Identifier: Apache-2.0
//
// The part of a run that shows its lasting rate: without the start of each epoch and without pauses
// (checkpoints, validation). Values; pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/model/run_model.h"
#include "analyzer/stats/bootstrap.h"
#include "analyzer/stats/drift.h"

namespace penstock::analyzer {

struct Pause {
  double length = 0;      // seconds of the long step beyond an ordinary step
  std::size_t batch = 0;  // index into LoaderRun::batches: the batch with the long step
};

// The rate of the loop changed for good.
struct RegimeChange {
  std::size_t batch = 0;     // index into LoaderRun::batches: the first one at the new rate
  std::int64_t at = kNever;  // when the batch before that one was delivered, on the trace's clock
  double before = 0;         // samples per second
  double after = 0;
};

struct SteadyState {
  bool steady = false;      // enough batches are left for a steady rate
  std::size_t batches = 0;  // number of intervals in the windows
  double time = 0;          // seconds, without pauses
  double wait = 0;          // seconds of `time` in next()
  double samples = 0;
  Interval rate;  // samples per second, 90 % interval; if the rate drifts, it reaches to the end
  double pauses_time = 0;
  std::vector<Pause> pauses;  // in the window
  std::vector<bool> paused;   // by batch, over the whole run: its step was a pause
  // The parts of epochs that count, from one delivery to another. They leave out the warm-up,
  // experiments, and pauses with the batches that are left out after pauses. If there are no
  // workers, they include pauses. Ascending within an epoch.
  std::vector<std::pair<std::int64_t, std::int64_t>> windows;
  std::int64_t from = kNever;  // of all windows, on the trace's clock
  std::int64_t to = kNever;
  std::optional<RegimeChange> change;  // the last change of rate; only `paused` also covers the
                                       // time before it
  std::optional<Drift> drift;   // samples per second, if the rate still rises or falls at the end
  bool fills_cache = false;     // reading and decoding take less and less of a batch, so it rises
  std::vector<bool> in_window;  // by batch: whether its interval counts
  std::vector<double>
      intervals;  // by batch in the windows: seconds from the delivery before it to its own
  std::vector<double> waits;

  // Whether `rate` is one that lasts.
  [[nodiscard]] bool lasts() const { return steady && !drift; }
  [[nodiscard]] double wait_fraction() const { return time > 0 ? wait / time : 0; }
  [[nodiscard]] double batch_rate() const {
    return time > 0 ? static_cast<double>(batches) / time : 0;
  }
};

// Leaves out the first credits() batches of each epoch, at least one and at most half of the epoch.
// Leaves out pauses. After each pause, leaves out the batches that the workers made during it.
// These are at least credits() batches, and further batches until the loop waits as long as usual
// again. They are at most half of the batches up to the next pause. Leaves out the time of
// experiments, in which the run is slowed down on purpose. If the rate changed for good, leaves out
// the time before the change: a mean of both rates is the speed of neither, and the run goes on at
// the last one. A change is a rate that is at least 1.25 times as high or as low as before. Each
// side of the change must have at least 32 batches, two seconds and an eighth of the batches (ours;
// FindShifts()). If the rate changes evenly instead, it drifts (FindDrift()). Neither is looked for
// if the loader is used together with others, because its batches have no rate of their own.
//
// Source: docs/diagnosis.md 5.1. A pause is a step above mean + 3 sd (SageMaker's StepOutlier) that
//         is also longer than three ordinary turns of the loop. Apart from the first steps of a
//         run, at most one step in twenty is a pause. If no batch is left out after a pause, the
//         turn with the pause counts with the length of an ordinary step. Long steps are also not
//         pauses if, after most of them, the loop waits less than half as long as usual until
//         halfway to the next long step.
[[nodiscard]] SteadyState FindSteadyState(const LoaderRun& run);

// Seconds of an ordinary step, with its copies: the median over all batches.
[[nodiscard]] double UsualStep(const LoaderRun& run);

// The batch before batch `i` (index into LoaderRun::batches), if its step is part of the interval
// of `i` in SteadyState::time. nullptr if `i` is the first batch of an epoch, or if the step before
// `i` was a pause.
[[nodiscard]] const Batch* StepBefore(const LoaderRun& run, const SteadyState& steady,
                                      std::size_t i);

// How many batches of an epoch FindSteadyState() leaves out at its beginning.
[[nodiscard]] std::size_t WarmUp(const LoaderConfig& config, std::size_t batches);

// The loop without the batches that fill its queues: the first WarmUp() batches of each epoch, at
// least one, are left out. A turn is that of SteadyState: the step before a batch and the wait for
// it. So both tell of the same time, unless pauses or a change of rate are left out there.
struct SteadyLoop {
  std::vector<bool> steady;  // by batch: whether the batch counts
  double time = 0;           // seconds of the turns of the batches that count
  double wait = 0;           // seconds of `time` in next()

  [[nodiscard]] double wait_fraction() const { return time > 0 ? wait / time : 0; }
};
[[nodiscard]] SteadyLoop MeasureLoop(const LoaderRun& run);

// The number of samples in one batch, as far as it is known.
[[nodiscard]] double SamplesOf(const LoaderRun& run, const Batch& batch);

}  // namespace penstock::analyzer
