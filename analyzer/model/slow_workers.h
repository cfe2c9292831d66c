// SPDX-License-Identifier: Apache-2.0
//
// Which workers are slower than the others. The rule that names them, the simulation that keeps
// them slow and the dashboard all ask here. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "analyzer/model/run_model.h"

namespace penstock::analyzer {

// What one worker took to make its batches.
// Units: seconds, of a batch or of a sample, for all workers alike.
struct WorkerTimes {
  std::vector<double> batches;
  double mean = 0;
};

struct SlowWorker {
  std::size_t index = 0;  // into the workers that were compared
  double times = 1;       // its mean over the median of the workers' means
};

// In the order of `workers`. A worker is slow from 1.5 times the median worker on, by its mean and
// by its median, since a few slow samples move the mean alone. Empty where a worker has fewer than
// eight batches, and with fewer than three workers: of two, neither is the rule.
// Source: ours; docs/diagnosis.md F19.
[[nodiscard]] std::vector<SlowWorker> FindSlowWorkers(std::span<const WorkerTimes> workers);

// The fetches of each of run.workers, by process.
[[nodiscard]] std::vector<WorkerTimes> TimesOfWorkers(const LoaderRun& run);

}  // namespace penstock::analyzer
