// SPDX-License-Identifier: Apache-2.0
//
// Measures the memory growth of the workers and of the training process, from a recording's
// counters. Pure.
#pragma once

#include "analyzer/memory/memory_growth.h"
#include "analyzer/model/run_model.h"

namespace penstock::analyzer {

// Needs the counters anonymous_bytes and private_dirty_bytes of the workers, which a recording with
// a collector has. With uss_bytes alone it measures their growth, but not its cause. Leaves
// MemoryModel::copied to MeasureCopiedMemory().
// Cost: O(batches log batches + samples of counters).
[[nodiscard]] MemoryModel MeasureMemory(const RunModel& model, const LoaderRun& run,
                                        double batch_rate);

}  // namespace penstock::analyzer
