// SPDX-License-Identifier: Apache-2.0
//
// How a training loop uses several loaders: which one it waits for most, and whether it takes
// batches of one while another is in the middle of an epoch. Pure.
#pragma once

#include <vector>

#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"

namespace penstock::analyzer {

// Names each loader by the line that made it, shortest first: "train.py:88", with folders where
// two would be called the same, and by the caller of that line where one line makes several; the
// second that one line makes is "train.py:88 #2".
void NameLoaders(std::vector<LoaderRun>& loaders);

// Sets LoaderRun::use, `waited` and `lasted`. A step ends where the loop asks for a batch of any
// loader; with interleaved loaders, where it asks for the next one of the same loader.
void FindLoopUse(std::vector<LoaderRun>& loaders);

// Puts first, of each training process, the loader that its loop waits for most; if no wait
// matters (5 % of the time with all of them, kineto's threshold), the one it spends most time with.
// Loaders of several processes stay in the order of their batches otherwise.
void PutMostAwaitedFirst(std::vector<LoaderRun>& loaders);

// The loaders that the loop drains together with `run`, which is not among them.
[[nodiscard]] std::vector<const LoaderRun*> DrainedWith(const RunModel& model,
                                                        const LoaderRun& run);

// Fraction of the steady time in which the loop waits for `run` or for a loader that is
// interleaved with it.
[[nodiscard]] double WaitFraction(const RunModel& model, const LoaderRun& run,
                                  const SteadyState& steady);

}  // namespace penstock::analyzer
