// SPDX-License-Identifier: Apache-2.0
//
// A recorded loader model under other settings. Values; pure functions.
//
// A trace does not contain these facts, so they are assumed:
// - if a run without workers gets workers, each batch costs 0.8 ms more in the worker and 0.8 ms
//   more in the training process, and the workers pay for fresh memory (memory/fresh_memory.h). If
//   batches do not pass through shared memory, they also cost 1 ns per byte in the training
//   process. If a run loses its workers, it saves the cost of fresh memory. Each file descriptor
//   that a batch needs beyond one costs the training process 0.4 ms. While the worker makes another
//   batch, the training process also waits for the worker's interpreter: 0.4 ms for a descriptor if
//   samples are read and decoded, 2.5 ms if other code makes them;
// - pinning that was not recorded copies at 5 GB/s;
// - with another batch size, the costs of a sample do not change, and half of the cost of the
//   handover is per batch.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "analyzer/memory/fresh_memory.h"
#include "analyzer/memory/memory_growth.h"
#include "analyzer/model/loader_memory.h"
#include "analyzer/model/run_model.h"
#include "analyzer/predict/attribution.h"
#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// Share of the cost of the handover that does not depend on the size of the message.
inline constexpr double kHandoverPerBatch = 0.5;

struct Setting {
  int workers = 0;
  int prefetch = 2;         // batches for each worker; with sample threads, batches of all threads
                            // together
  std::optional<bool> pin;  // pinning of the main loader; nullopt: as recorded
  std::optional<bool> persistent;
  std::optional<bool> in_order;
  std::optional<double> step;                    // seconds between two batches
  std::optional<double> step_load;               // cores that the step keeps busy
  std::vector<std::pair<Factor, double>> scale;  // factors, and how many times as long they take
  double loop_transforms = 1;                    // how many times as long transforms in the loop
                                                 // take
};

// Facts of the loader, besides its model, that are needed to apply a setting.
struct LoaderFacts {
  double batch_bytes = 0;   // bytes of one collated batch; 0: not known
  double batch_size = 0;    // samples in one batch
  double worker_bytes = 0;  // private memory of one worker process; 0: not known
  WorkersRead read;         // the readings behind worker_bytes; empty if MemoryModel gives it
  WorkerGrowth growth;      // of worker_bytes
  FreshMemory fresh;        // for the main loader
  bool shares = true;       // batches pass through /dev/shm
  int descriptors = 0;      // file descriptors with which a batch is passed; 0: not known
  bool persistent = false;
  bool pinned = false;
  int most_workers = 0;  // number of workers that the dataset has shards for; 0: no limit is known
};
// The facts without growth, fresh and shares. worker_bytes is the greatest memory of the median
// worker, pages of files included.
[[nodiscard]] LoaderFacts FactsOf(const RunModel& model, const LoaderRun& run);

// `pipeline` under `setting`.
[[nodiscard]] Pipeline Apply(const Pipeline& pipeline, const Setting& setting,
                             const LoaderFacts& facts);

// The samples of `pipeline` in batches of another size, in their order.
// Requires: batch >= 1; `pipeline` is BuildPipeline(run), or a part of it from Shortened() or
// Without().
[[nodiscard]] Pipeline WithBatch(const Pipeline& pipeline, const LoaderRun& run, int batch);

// Private bytes of each of `workers` workers when they have made the batches of the horizon: the
// recorded bytes and their growth. 0: not known.
[[nodiscard]] double WorkerBytes(const LoaderFacts& facts, int workers);
// The number of workers of all loaders: of the main loader, and of those that are used together
// with it.
[[nodiscard]] int AllWorkers(const Pipeline& pipeline, const Setting& setting);
// Bytes of batches in flight and of the workers themselves, at the horizon.
[[nodiscard]] std::uint64_t RamOf(const Pipeline& pipeline, const Setting& setting,
                                  const LoaderFacts& facts);
// Bytes that the batches need of /dev/shm, kSharedMargin included.
[[nodiscard]] double SharedMemoryOf(const Pipeline& pipeline, const Setting& setting,
                                    const LoaderFacts& facts);

}  // namespace penstock::analyzer
