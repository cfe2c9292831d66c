// SPDX-License-Identifier: Apache-2.0
//
// Measures parts of the loop's steps that are not training: transforms of batches, and waiting for
// a core. Pure.
#pragma once

#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"
#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// Whether copies to a device or kernels were recorded. If so, the device does a part of each step.
[[nodiscard]] bool FeedsDevice(const RunModel& model);

// Whether the loop reads the data of its batches. It is taken to do so if it computes in its steps
// or copies to a device. A loop that sleeps in place of training does neither.
[[nodiscard]] bool ReadsBatches(const RunModel& model, const Pipeline& pipeline);

// The share of the steady steps that the loop's thread spends on transforms of whole batches.
[[nodiscard]] double TransformsInSteps(const LoaderRun& run, const SteadyState& steady);

// The part of the loop's time in steps in which the first thread of its process waited for a core,
// by the kernel's account. Without workers, the loop's time also includes making batches. The
// simulator adds this waiting by itself. 0 if it is not known.
[[nodiscard]] double DelayOfSteps(const RunModel& model, const LoaderRun& run,
                                  const SteadyState& steady);

// Shortens the steps of `pipeline` by a part of `delay` (a fraction of the steps). The part is
// chosen such that the simulation is as fast as the run was: `rate` samples per second. The rest of
// the delay stays in the steps: other programs caused it, or the kernel's scheduler, which gives a
// core back less evenly than the simulator. Sets Pipeline::step_delay to this rest, so that
// settings without workers can remove it. Cost: some eight simulations.
void TakeDelayOffSteps(double delay, double rate, Pipeline& pipeline);

}  // namespace penstock::analyzer
