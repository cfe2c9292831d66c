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
// Leaves out coalesced reads, for which ReadSpan::reader is not known.
[[nodiscard]] std::vector<ReadSpan> ReadsFor(const LoaderRun& run,
                                             const std::vector<ReadSpan>& all);

// The reads that were made for batches of any loader. If these are too few for FitReads(), all
// reads: reads by the dataset's own threads belong to no batch.
[[nodiscard]] std::vector<ReadSpan> ReadsForBatches(const std::vector<ReadSpan>& all);

// Sets LoaderRun::sample_times of each loader, without the first batch of each worker. A loader
// whose dataset makes a whole batch in one call gets none, because its spans time batches, not
// samples.
void ShareSampleTimes(const std::vector<SampleTime>& all, std::vector<LoaderRun>& loaders);

}  // namespace penstock::analyzer
