// SPDX-License-Identifier: Apache-2.0
//
// Finds how a training loop uses several loaders: which loader it waits for most, and whether it
// takes batches of one loader in the middle of another's epoch. Pure.
#pragma once

#include <vector>

#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"

namespace penstock::analyzer {

// Names each loader by the line that made it, as short as possible: "train.py:88". Names get
// folders if two would be the same. If one line makes several loaders, they are named by the line
// that called the function around it. The second loader of the same line is "train.py:88 #2".
void NameLoaders(std::vector<LoaderRun>& loaders);

// Sets LoaderRun::use, `waited` and `lasted`. A step ends where the loop asks for a batch of any
// loader. With interleaved loaders it ends where the loop asks for the next batch of the same
// loader.
void FindLoopUse(std::vector<LoaderRun>& loaders);

// Sorts the loaders of each training process by the time that its loop waits for them, the longest
// first. If all waits are less than 5 % of the time with all loaders (kineto's threshold), sorts by
// the time with each loader. Training processes come in descending order of the time with their
// loaders.
void PutMostAwaitedFirst(std::vector<LoaderRun>& loaders);

// The other loaders that the loop uses together with `run`.
[[nodiscard]] std::vector<const LoaderRun*> DrainedWith(const RunModel& model,
                                                        const LoaderRun& run);

// Seconds in which the loop waits for loaders that are interleaved with `run`: in the windows of
// `steady`, or in the whole run if it is null. They lie within the steps of `run`.
[[nodiscard]] double WaitForOthers(const RunModel& model, const LoaderRun& run,
                                   const SteadyState* steady);

// Fraction of the steady time in which the loop waits for `run` or for a loader that is
// interleaved with it.
[[nodiscard]] double WaitFraction(const RunModel& model, const LoaderRun& run,
                                  const SteadyState& steady);

// Fraction of the time of the training process's loop that its steps take; the rest are waits for
// batches of its loaders. 0 without a loader.
[[nodiscard]] double StepFraction(const RunModel& model);

// The share of the main loader in the time that its loop takes with all loaders, if it uses them
// one after the other; otherwise 1. Requires: has_loader().
[[nodiscard]] double PartOfLoop(const RunModel& model);

// With a smaller share, verdict and plan say that they are about one loader (ours).
inline constexpr double kNearlyAllOfLoop = 0.9;

}  // namespace penstock::analyzer
