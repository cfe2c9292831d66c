// SPDX-License-Identifier: Apache-2.0
//
// What the batches and workers of a recorded loader took of memory, and how much of a host's they
// may. Pure.
#pragma once

#include "analyzer/model/run_model.h"

namespace penstock::analyzer {

// The part of the usable memory that workers and batches may take (docs/diagnosis.md R23).
inline constexpr double kMemoryShare = 0.5;
// What batches on their way need of /dev/shm for each byte of theirs: half as much again for those
// that are being replaced (docs/diagnosis.md R24).
inline constexpr double kSharedMargin = 1.5;

// What a setting may use. 0: no limit known.
struct Budget {
  double ram = 0;            // bytes of batches and workers
  double shared_memory = 0;  // bytes of /dev/shm
  double cores = 0;          // workers beyond twice as many are not considered
};
// Half of the memory that the run may use (docs/diagnosis.md R23), all of /dev/shm, the usable
// cores.
[[nodiscard]] Budget BudgetOf(const Host& host);

// Median bytes of a collated batch; 0 if not recorded.
[[nodiscard]] double BatchBytes(const LoaderRun& run);
// The same; of samples that are made in their place in the batch, what augmenting puts out.
[[nodiscard]] double FilledBatchBytes(const RunModel& model, const LoaderRun& run);

// Median over the workers of `consumer` of the most private memory that each had; 0 if not
// recorded.
[[nodiscard]] double PeakWorkerBytes(const RunModel& model, ProcessId consumer);

}  // namespace penstock::analyzer
