// SPDX-License-Identifier: Apache-2.0
//
// A recorded loader model under other settings. Values; pure functions.
//
// A trace does not tell these things, so they are assumed:
// - workers in a run that had none cost 0.8 ms per batch in the worker and in the training process,
//   and fresh memory in the workers (memory/fresh_memory.h). If batches do not pass through shared
//   memory, they also cost 1 ns per byte in the training process. A run without its workers saves
//   the cost of fresh memory;
// - pinning that was not recorded copies at 5 GB/s;
// - with another batch size, every sample costs the same, and half of the cost of the handover is
//   per batch.
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

// Share of the handover that a message costs, whatever its size.
inline constexpr double kHandoverPerBatch = 0.5;

struct Setting {
  int workers = 0;
  int prefetch = 2;         // batches for each worker; with sample threads, of the whole ring
  std::optional<bool> pin;  // of the main loader; nullopt: as recorded
  std::optional<bool> persistent;
  std::optional<bool> in_order;
  std::optional<double> step;                    // seconds between two batches
  std::optional<double> step_load;               // cores that the step keeps busy
  std::vector<std::pair<Factor, double>> scale;  // factors, and how many times as long they take
  double loop_transforms = 1;                    // the same for transforms in the loop
};

// Facts of the loader, besides its model, that are needed to apply a setting.
struct LoaderFacts {
  double batch_bytes = 0;   // bytes of one collated batch; 0: not known
  double batch_size = 0;    // samples in one batch
  double worker_bytes = 0;  // private memory of one worker process; 0: not known
  WorkerGrowth growth;      // of worker_bytes
  FreshMemory fresh;        // for the main loader
  bool shares = true;       // batches pass through /dev/shm
  bool persistent = false;
  bool pinned = false;
  int most_workers = 0;  // workers that the dataset has shards for; 0: no bound is known
};
// The facts without growth, fresh and shares. worker_bytes is the greatest memory of the median
// worker, pages of files included.
[[nodiscard]] LoaderFacts FactsOf(const RunModel& model, const LoaderRun& run);

// `pipeline` under `setting`.
[[nodiscard]] Pipeline Apply(const Pipeline& pipeline, const Setting& setting,
                             const LoaderFacts& facts);

// The samples of `pipeline` in batches of another size, in their order.
// Requires: batch >= 1; `pipeline` is BuildPipeline(run), or its part of Shortened() or Without().
[[nodiscard]] Pipeline WithBatch(const Pipeline& pipeline, const LoaderRun& run, int batch);

// Private bytes of each of `workers` when they have made the batches of the horizon: the recorded
// bytes and their growth. 0: not known.
[[nodiscard]] double WorkerBytes(const LoaderFacts& facts, int workers);
// The workers of all loaders: of `pipeline`'s own, and of those that are used together with it.
[[nodiscard]] int AllWorkers(const Pipeline& pipeline, const Setting& setting);
// Bytes of batches in flight and of the workers themselves, at the horizon.
[[nodiscard]] std::uint64_t RamOf(const Pipeline& pipeline, const Setting& setting,
                                  const LoaderFacts& facts);
// Bytes that the batches need of /dev/shm, kSharedMargin included.
[[nodiscard]] double SharedMemoryOf(const Pipeline& pipeline, const Setting& setting,
                                    const LoaderFacts& facts);

}  // namespace penstock::analyzer
