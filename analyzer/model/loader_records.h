// SPDX-License-Identifier: Apache-2.0
//
// The recorded reads and samples that belong to one loader. Values; pure functions.
#pragma once

#include <vector>

#include "analyzer/model/reads.h"
#include "analyzer/model/run_model.h"
#include "analyzer/model/sample_tail.h"

namespace penstock::analyzer {

// The reads that were made for the batches of `run`, by its workers or by its training process.
[[nodiscard]] std::vector<ReadSpan> ReadsFor(const LoaderRun& run,
                                             const std::vector<ReadSpan>& all);

// The reads that were made for batches of any loader. If there are fewer than FitReads() learns
// from, all reads: threads of the dataset's own read for no single batch.
[[nodiscard]] std::vector<ReadSpan> ReadsForBatches(const std::vector<ReadSpan>& all);

// Sets LoaderRun::sample_times of each loader, without the first batch of each worker. A loader
// whose dataset makes a whole batch in one call gets none: what is timed is a batch.
void ShareSampleTimes(const std::vector<SampleTime>& all, std::vector<LoaderRun>& loaders);

}  // namespace penstock::analyzer
