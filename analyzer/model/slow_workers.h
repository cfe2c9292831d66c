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
  double times = 1;       // its mean divided by the median of the workers' means
};

// Returns slow workers in the order of `workers`. A worker is slow if its mean is at least 1.5
// times the median of the workers' means, and its median at least 1.5 times the median of their
// medians. A few slow batches change only the mean, so they do not make a worker slow. Leaves out
// workers with fewer than eight batches, for example those of an epoch that has just begun. Empty
// if fewer than three workers are left: with two, it is not known which one is normal. Source:
// ours; docs/diagnosis.md F19.
[[nodiscard]] std::vector<SlowWorker> FindSlowWorkers(std::span<const WorkerTimes> workers);

// The fetches of each of run.workers. If epochs have new processes, the first process with a worker
// number gets the batches of all processes with this number, and the others get none. Fetches are
// assigned by process: if several workers are threads of one process, the first one gets all
// batches.
[[nodiscard]] std::vector<WorkerTimes> TimesOfWorkers(const LoaderRun& run);

}  // namespace penstock::analyzer
