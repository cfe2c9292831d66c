// SPDX-License-Identifier: Apache-2.0
//
// Takes the batch costs from a recording: how long each part of each batch took, without the
// waiting for cores, which the simulator adds by itself. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/measure/cpu_load.h"
#include "analyzer/measure/handover.h"
#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"
#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// The source of the costs. Refers to the model, the loader and its steady part, which must outlive
// it.
struct RecordedRun {
  const RunModel& model;
  const LoaderRun& run;
  const SteadyState& steady;
  Handover handover;
  std::vector<std::size_t> sources;  // by batch: index of the batch whose costs it takes
};
[[nodiscard]] RecordedRun ReadRecorded(const RunModel& model, const LoaderRun& run,
                                       const SteadyState& steady, const CpuLoad& load);

struct RecordedCosts {
  std::vector<EpochDemand> epochs;  // a single one if threads fill batches sample by sample
  std::vector<double> charged;      // by epoch: the share of its start-up that counts, see starts.h
};
[[nodiscard]] RecordedCosts RecordedCostsOf(const RecordedRun& recorded, const CpuLoad& load,
                                            bool sample_tasks);

// Seconds that making each batch of the steady part took; 0 for other batches. A batch without a
// recorded fetch gets the time of the batch whose costs it takes.
[[nodiscard]] std::vector<double> RecordedMaking(const RecordedRun& recorded);

}  // namespace penstock::analyzer
