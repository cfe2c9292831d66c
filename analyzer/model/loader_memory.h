// SPDX-License-Identifier: Apache-2.0
//
// How much memory the batches and workers of a recorded loader took, and how much of a host's
// memory they may take. Pure.
#pragma once

#include <cstddef>

#include "analyzer/model/run_model.h"

namespace penstock::analyzer {

// The part of the usable memory that workers and batches may take (docs/diagnosis.md R23).
inline constexpr double kMemoryShare = 0.5;
// Bytes of /dev/shm for each byte of the batches in flight: half as much again, for batches that
// are being replaced (docs/diagnosis.md R24).
inline constexpr double kSharedMargin = 1.5;

// What a setting may use. 0: no limit is known.
struct Budget {
  double ram = 0;            // bytes for batches and workers
  double shared_memory = 0;  // bytes of /dev/shm
  double cores = 0;          // cores that the run may use; they limit the number of workers
                             // (MostWorkers())
};
// The budget is half of the memory that the run may use (docs/diagnosis.md R23), all of /dev/shm,
// and the usable cores.
[[nodiscard]] Budget BudgetOf(const Host& host);

// Median bytes of a collated batch; 0 if not recorded.
[[nodiscard]] double BatchBytes(const LoaderRun& run);
// Like BatchBytes(). Without collate, samples are made at their place in the batch, and no collated
// batch is recorded. Then the result is the bytes that augmenting puts out for the samples of a
// batch.
[[nodiscard]] double FilledBatchBytes(const RunModel& model, const LoaderRun& run);

// The private memory of workers, as far as it was read.
struct WorkersRead {
  double bytes = 0;          // the median of each worker's greatest memory; 0: never read
  std::size_t workers = 0;   // that were read at least once
  std::size_t readings = 0;  // of all of them

  // Whether the figure is a rough one: fewer readings of a worker show no peak.
  [[nodiscard]] bool few() const { return readings > 0 && readings < 4 * workers; }
};
// Reads the counters of the workers of `consumer`.
[[nodiscard]] WorkersRead ReadWorkers(const RunModel& model, ProcessId consumer);

}  // namespace penstock::analyzer
