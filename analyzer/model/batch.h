// SPDX-License-Identifier: Apache-2.0
//
// The life of one batch, put together from the spans and events of all threads that touched it.
// Values. Times are nanoseconds of the trace's clock; kNever: not recorded.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <unordered_map>

#include "traces/event.h"
#include "traces/nesting.h"

namespace penstock::analyzer {

inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

// The cost of one sample. The costs of single samples are kept because another setting puts samples
// into other batches.
// Units: seconds; single precision, since there are millions.
struct SampleCost {
  float read = 0, read_cpu = 0;
  float decode = 0, decode_cpu = 0;
  float augment = 0, augment_cpu = 0;
  float tokenize = 0, tokenize_cpu = 0;
};

// Seconds that threads spent on each stage outside of samples and fetches. Reads inside samples and
// fetches count too, so these sums are not used for threads that make batches.
struct ThreadStages {
  double read = 0;
  double decode = 0;
  double augment = 0;
  double tokenize = 0;

  [[nodiscard]] double sum() const { return read + decode + augment + tokenize; }
  void Add(const ThreadStages& more) {
    read += more.read;
    decode += more.decode;
    augment += more.augment;
    tokenize += more.tokenize;
  }
};

// Time of one part of a batch's service. Units: seconds.
struct Work {
  double wall = 0;
  double cpu = 0;
};

struct Batch {
  traces::BatchKey key;
  ProcessId consumer;
  std::int32_t worker_process = -1;  // index into Trace::processes(); -1: no fetch was recorded
  std::uint32_t fetch_thread = 0;
  std::uint32_t put_thread = 0;
  std::uint32_t get_thread = 0;
  std::uint32_t wait_thread = 0;

  std::int64_t index_sent = kNever;
  std::int64_t fetch_start = kNever;
  std::int64_t fetch_end = kNever;
  std::int64_t put_start = kNever;
  std::int64_t put_end = kNever;
  std::int64_t get_start = kNever;
  std::int64_t got = kNever;         // the loop, or the pin thread, has taken it from the queue
  std::int64_t wait_start = kNever;  // next() entered
  std::int64_t delivered = kNever;   // next() returned
  std::int64_t step_end = kNever;    // the loop asked for the next batch
  // The loop asked for the next batch of any loader. This is before `step_end` only with
  // interleaved loaders; kNever: the same as `step_end`.
  std::int64_t next_wait = kNever;

  Work fetch;
  Work read, decode, augment, tokenize, collate;  // exclusive parts of fetch
  double queued = 0;                              // part of `read`: waiting before reads
  Work put, get, pin;
  // CPU seconds of all threads of the training process in next(), and in the step; < 0: not known.
  double next_cpu = -1;
  double step_cpu = -1;
  double h2d = 0;   // seconds of the step in which the host was in copy calls
  Work transforms;  // transforms of the whole batch after its delivery
  std::uint32_t transforms_thread = 0;
  bool cpu_known = false;        // the CPU time of the fetch was recorded
  bool whole = false;            // one fetch made it; else `fetch` is summed over its samples
  std::uint64_t samples = 0;     // sample spans; 0 if none were recorded
  std::uint64_t bytes = 0;       // of the collated batch
  std::size_t first_sample = 0;  // its costs begin at LoaderRun::samples[first_sample]
  std::size_t sample_costs = 0;  // number of its costs; 0: samples were not recorded one by one. In
                                 // a run with more than half a million samples, batches share costs
                                 // with a neighbour

  [[nodiscard]] bool was_fetched() const { return fetch_end != kNever; }
  [[nodiscard]] bool was_delivered() const { return delivered != kNever && wait_start != kNever; }
  // Units: seconds; 0 if not recorded.
  [[nodiscard]] double wait() const;
  [[nodiscard]] double step() const;
  // The part of step() until the loop waits for another loader.
  [[nodiscard]] double loop_step() const;
  // When the loop could have taken the batch: at the end of put, or of the fetch.
  [[nodiscard]] std::int64_t available() const;
};

// Finds batches by training process and key. Batches are never moved, so pointers to them stay
// valid.
class BatchIndex {
 public:
  [[nodiscard]] Batch& Find(ProcessId consumer, traces::BatchKey key) {
    return batches_[PlaceOf(consumer, key)];
  }
  // The index of a batch in batches(). Adds the batch if it is new.
  [[nodiscard]] std::size_t PlaceOf(ProcessId consumer, traces::BatchKey key);
  [[nodiscard]] std::deque<Batch>& batches() { return batches_; }

 private:
  std::unordered_map<std::uint64_t, std::size_t> places_;
  std::deque<Batch> batches_;  // a vector would hold them twice while it grows
};

}  // namespace penstock::analyzer
