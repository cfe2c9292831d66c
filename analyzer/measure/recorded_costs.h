// SPDX-License-Identifier: Apache-2.0
//
// From a recording to batch costs: what each part of each batch took, without the waiting for cores
// that the simulator adds by itself. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/measure/cpu_load.h"
#include "analyzer/measure/handover.h"
#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"
#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// What the costs are read from. Refers to the model, the loader and its steady part while it lives.
struct RecordedRun {
  const RunModel& model;
  const LoaderRun& run;
  const SteadyState& steady;
  Handover handover;
  std::vector<std::size_t> sources;  // by batch: the one whose costs stand for it
};
[[nodiscard]] RecordedRun ReadRecorded(const RunModel& model, const LoaderRun& run,
                                       const SteadyState& steady, const CpuLoad& load);

struct RecordedCosts {
  std::vector<EpochDemand> epochs;  // of threads that fill batches by sample: one for all
  std::vector<double> charged;      // of the start-up of each of them: see starts.h
};
[[nodiscard]] RecordedCosts RecordedCostsOf(const RecordedRun& recorded, const CpuLoad& load,
                                            bool sample_tasks);

// Seconds that each batch of the steady part took to be made; 0 for others. A batch that was not
// seen to be made took as long as the one whose costs it has in the replay.
[[nodiscard]] std::vector<double> RecordedMaking(const RecordedRun& recorded);

}  // namespace penstock::analyzer
