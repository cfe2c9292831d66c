// SPDX-License-Identifier: Apache-2.0
//
// Finds workers that are slower than the others. The rule that names them, the simulation that
// keeps them slow and the dashboard all use it. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "analyzer/model/run_model.h"

namespace penstock::analyzer {

// How long one worker took for its batches. Units: seconds per batch or per sample, the same for
// all workers.
struct WorkerTimes {
  std::vector<double> batches;
  double mean = 0;
};

struct SlowWorker {
  std::size_t index = 0;  // index into the compared workers
  double times = 1;       // its mean over the median of the workers' means
};

// In the order of `workers`. A worker is slow if its mean is at least 1.5 times the median of the
// workers' means, and its median at least 1.5 times the median of their medians. A few slow batches
// move only the mean, so they make no worker slow. Leaves out workers with fewer than eight
// batches, as those of an epoch that has just begun. Empty if fewer than three are left: with two,
// nobody can say which one is normal. Source: ours; docs/diagnosis.md F19.
[[nodiscard]] std::vector<SlowWorker> FindSlowWorkers(std::span<const WorkerTimes> workers);

// The fetches of each of run.workers. Where an epoch has new processes, the first process of a
// number gets the batches of all of that number, and the others get none. Fetches are told apart by
// process: of several workers in one process (threads), the first gets all batches.
[[nodiscard]] std::vector<WorkerTimes> TimesOfWorkers(const LoaderRun& run);

}  // namespace penstock::analyzer
