// SPDX-License-Identifier: Apache-2.0
//
// How the memory of workers grows, by cause, and when a number of workers uses up the memory.
// Values; pure.
//
// Three things make the private memory of a worker process grow, and each has its own remedy:
// - copied: pages of the process that forked the worker, copied when the worker writes to them.
//   Reading a Python object is enough: it changes the object's reference count, which lies in the
//   object's page. Private memory rises, but anonymous memory (private and shared together) does
//   not, because shared pages become private. Growth ends when no page is shared any more;
// - fresh: memory that the worker allocates and keeps: a leak or a cache. Anonymous memory rises;
// - cached: pages of files that no other process maps. The kernel takes them back when memory is
//   short.
// Source: docs/diagnosis.md R26; proc(5), smaps_rollup.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/memory/copied_memory.h"
#include "analyzer/memory/shared_memory_use.h"
#include "analyzer/model/run_model.h"
#include "analyzer/stats/bootstrap.h"

namespace penstock::analyzer {

// Growth of a process's memory by one cause.
struct Growth {
  Interval per_second;  // bytes; 90 % confidence interval
  Interval per_batch;   // bytes for each batch that the process makes; 90 % confidence interval
  double grown = 0;     // bytes of growth from the end of the first fifth of the samples to the
                        // last sample
  double limit = 0;     // bytes by which it can grow from its first sample; 0: no end is known
  double settles = 0;   // after this many batches, the growth still to come is 1/e of what it was;
                        // 0: growth does not slow down, or there are too few samples to tell

  // Whether the growth is more than chance, and more than allocators grow without a leak.
  [[nodiscard]] bool certain() const;
  // Bytes by which the process grows until it has made `batches`; 0 if the growth is not certain.
  [[nodiscard]] Interval After(double batches) const;
};

// The medians over several growths. `limit` and `settles` are medians of the values other than 0 if
// more than half of the values are not 0; otherwise they are 0.
[[nodiscard]] Growth MedianGrowth(const std::vector<Growth>& growths);

// Growth of the workers of a loader: medians over the workers that have enough samples for a slope.
struct WorkerGrowth {
  Growth copied;
  Growth fresh;
  double batches = 0;  // batches of the median worker at its last sample
  double epoch = 0;    // batches of an epoch of all workers together; 0: not known
  double horizon = 0;  // the forecast ends when all workers together have made this many batches:
                       // those of the longest known epoch or, if workers persist and the recording
                       // has more batches, those of the recording; 0: not known
  double ahead = 0;    // batches that a worker may have made by its last sample but that `batches`
                       // lacks, because they were not delivered
  bool foreseeable = false;  // the growth can be forecast: its cause is known, or it was seen long
                             // enough (SeenLongEnough)

  // Whether the horizon is the end of an epoch.
  [[nodiscard]] bool of_epoch() const { return horizon <= epoch; }
  // The change of a worker's private memory, in bytes: from the last sample of the median worker to
  // the moment when `workers` workers together have made the batches of the horizon. 0 if the
  // growth is not foreseeable.
  [[nodiscard]] Interval Change(int workers) const;
};

struct WorkerMemory {
  ProcessId process;
  std::int32_t worker_id = -1;
  std::size_t samples = 0;   // walks of its page tables (one for each read of smaps_rollup)
  double watched = 0;        // seconds from the first walk to the last
  double batches = 0;        // batches that the worker had made at the last walk
  double private_bytes = 0;  // anonymous and private, resident or swapped out; at the last walk
                             // until the run ends;
                             // if only uss_bytes is known: all resident private memory
  double shared_bytes = 0;   // anonymous and shared with the process that forked it
  double cached_bytes = 0;   // pages of files that nobody else maps
  Growth copied;
  Growth fresh;
  Growth cached;
};

struct MemoryModel {
  bool known = false;                 // some worker has enough samples for a slope
  bool attributed = false;            // copied, fresh and cached growth are known separately; else
                                      // growth.copied holds the whole growth
  bool mixed = false;                 // known separately for some workers only
  std::vector<WorkerMemory> workers;  // those that have enough samples for a slope
  WorkerGrowth growth;
  Growth cached;
  double private_bytes = 0;  // median over the workers, at their last samples
  double shared_bytes = 0;
  Growth trainer;                // fresh memory of the training process; its per_batch counts
                                 // delivered batches
  bool ends_with_epoch = false;  // workers end with the epoch and give their memory back
  double batch_rate = 0;         // batches per second of the loader
  double watched = 0;            // seconds from the first sample to the last: median over the
                                 // workers, or of the training process if that is longer
  int worker_count = 0;          // configured
  int ranks = 1;     // ranks that share the memory; `room` and `limit` are the part of one rank
  double room = 0;   // bytes that are left before the kernel kills a process; 0: not known, or none
                     // left
  double limit = 0;  // bytes that may be used, those already in use included
  std::string_view limit_of;  // what sets `limit`: "machine" or "control group"
  SharedMemoryUse shared;
  std::optional<CopiedMemory> copied;  // does not need growth; a single walk is enough

  // Seconds from the last sample of memory until `count` workers have used up `room`; 0 if
  // additional workers do not fit. `high` is infinite if growth at the low ends of its confidence
  // intervals does not use up `room` within kForecastSeconds. nullopt if `room` is 0, if the memory
  // is enough for kForecastSeconds, or if the recording is too short for the forecast (kBelieved).
  [[nodiscard]] std::optional<Interval> OutOfMemory(int count) const;
};

// A rate of growth is reported for a worker only if its samples after the first fifth span at least
// this many seconds: a slope over a few seconds does not predict a minute.
inline constexpr double kLeastGrowthTime = 20;

// Whether samples over `watched` seconds, without their first fifth, span that time.
[[nodiscard]] constexpr bool SeenLongEnough(double watched) {
  return 0.8 * watched >= kLeastGrowthTime;
}

// The workers that grow, among those whose samples span the time that kLeastGrowthTime asks for.
// Growth without a known cause counts as copied.
struct GrowingWorkers {
  bool told = false;             // the samples of some worker span that time
  bool all = false;              // all of these workers grow; true if there are none
  std::optional<Growth> copied;  // medians over the workers that grow by this cause
  std::optional<Growth> fresh;
};
[[nodiscard]] GrowingWorkers FindGrowingWorkers(const MemoryModel& memory);

// OutOfMemory() forecasts at most this many times the time in which memory was sampled (ours), and
// at most kForecastSeconds.
inline constexpr double kBelieved = 60;
inline constexpr double kForecastSeconds = 7 * 86400.0;

}  // namespace penstock::analyzer
