// SPDX-License-Identifier: Apache-2.0
//
// A recorded pipeline under other settings. Values; pure functions.
//
// What a trace cannot tell is assumed, and named here:
// - first workers (from 0): 0.8 ms each in worker and consumer; 1 ns a byte in the consumer where
//   batches do not pass through shared memory; fresh memory in the workers (memory/fresh_memory.h),
//   which goes again with the last of them;
// - pinning that was not recorded copies at 5 GB/s;
// - another batch size: per sample everything costs the same, and half of what handing a batch over
//   takes is per batch.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "analyzer/memory/fresh_memory.h"
#include "analyzer/memory/memory_growth.h"
#include "analyzer/model/run_model.h"
#include "analyzer/predict/attribution.h"
#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

inline constexpr double kHandoverPerBatch = 0.5;  // of handing over: one message, whatever is in it

struct Setting {
  int workers = 0;
  int prefetch = 2;         // of each worker; of the whole ring where `sample_tasks`
  std::optional<bool> pin;  // nullopt: as recorded
  std::optional<bool> persistent;
  std::optional<bool> in_order;
  std::optional<double> step;                    // seconds between two batches
  std::optional<double> step_load;               // cores that the step keeps busy
  std::vector<std::pair<Factor, double>> scale;  // parts that take so many times as long
  double loop_transforms = 1;                    // likewise transforms in the loop
};

// What else a setting needs to know of the loader.
struct LoaderFacts {
  double batch_bytes = 0;   // of one collated batch; 0: not known
  double batch_size = 0;    // samples in it
  double worker_bytes = 0;  // private memory of one worker process; 0: not known
  WorkerGrowth growth;      // of it
  FreshMemory fresh;        // of the main loader
  bool shares = true;       // batches pass through /dev/shm
  bool persistent = false;
  bool pinned = false;
  int most_workers = 0;  // that the dataset has shards for; 0: no bound is known
};
// Without growth; worker_bytes is the most that the median worker had, pages of files included.
[[nodiscard]] LoaderFacts FactsOf(const RunModel& model, const LoaderRun& run);

// `pipeline` under `setting`.
[[nodiscard]] Pipeline Apply(const Pipeline& pipeline, const Setting& setting,
                             const LoaderFacts& facts);

// The samples of `pipeline` in batches of another size, in their order.
// Requires: batch >= 1; `pipeline` is BuildPipeline(run), or Shortened().
[[nodiscard]] Pipeline WithBatch(const Pipeline& pipeline, const LoaderRun& run, int batch);

// Private bytes of one of so many workers when they have made the batches of the horizon: what was
// seen, and what its growth comes to. 0: not known.
[[nodiscard]] double WorkerBytes(const LoaderFacts& facts, int workers);
// Bytes of batches on their way and of the workers themselves, at the horizon.
[[nodiscard]] std::uint64_t RamOf(const Pipeline& pipeline, const Setting& setting,
                                  const LoaderFacts& facts);
// Bytes that the batches need of /dev/shm, kSharedMargin included.
[[nodiscard]] double SharedMemoryOf(const Pipeline& pipeline, const Setting& setting,
                                    const LoaderFacts& facts);

}  // namespace penstock::analyzer
