// SPDX-License-Identifier: Apache-2.0
//
// Collects what BuildRunModel() needs while it walks over a trace. Used by run_model.cc only.
// Owns what it collects; refers to the trace while it lives; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/model/copy_kind.h"
#include "analyzer/model/nesting.h"
#include "analyzer/model/reads.h"
#include "analyzer/model/run_model.h"
#include "traces/trace.h"

namespace penstock::analyzer {

// A wait, startup or copy on a thread, to be matched with batches when all are known.
struct Stretch {
  std::uint32_t thread = 0;
  std::int64_t start = 0;
  std::int64_t end = 0;
  traces::BatchKey key;
};

// What a thread did in samples that no fetch surrounds, or outside of both.
struct ThreadWork {
  double apart = 0;  // CPU seconds of decoding and transforms outside of samples and fetches
  std::uint64_t samples = 0;
  double busy = 0;  // seconds
  double cpu = 0;
  std::int64_t first = kNever;
  std::int64_t last = kNever;
};

// The cost of a sample and the place of its batch in RunBuilder::batches().
struct PlacedSample {
  std::uint32_t batch = 0;
  SampleCost cost;
};

class RunBuilder final : public NestingSink {
 public:
  RunBuilder(const traces::Trace& trace, RunModel& model);

  void OnCounted(const Counted& counted) override;
  void WalkSpans();
  void WalkEvents();
  void MatchWaits();
  void EndStepsAtWaits();
  void AttributeCopies();

  [[nodiscard]] std::deque<Batch>& batches() { return index_.batches(); }
  // The process that iterates over the loader that `process` works for, itself if it consumes.
  [[nodiscard]] ProcessId ConsumerOf(ProcessId process) const { return consumers_[process.value]; }
  // Whether a process that iterates over a loader started `process`, or started who did.
  [[nodiscard]] bool Descends(ProcessId process) const { return descends_[process.value]; }
  // When iterator `generation` of `consumer` was made; kNever if nothing tells.
  [[nodiscard]] std::int64_t EpochStart(ProcessId consumer, std::uint16_t generation,
                                        std::int64_t first_wait) const;
  [[nodiscard]] bool EpochEnded(ProcessId consumer, std::uint16_t generation) const;
  // Seconds in the next() that found iterator `generation` of `consumer` exhausted; 0: not seen.
  [[nodiscard]] double EpochStop(ProcessId consumer, std::uint16_t generation) const;
  [[nodiscard]] double IdleOf(std::uint32_t thread) const { return idle_[thread]; }
  [[nodiscard]] const ThreadWork& WorkOf(std::uint32_t thread) const { return work_[thread]; }
  // The costs of the samples of the batches that keep them, batch after batch; sets first_sample
  // and sample_costs of batches() accordingly.
  [[nodiscard]] std::vector<SampleCost> TakeSamples();
  // Some thousand reads of each thread, of a time when all that read were recorded.
  [[nodiscard]] std::vector<ReadSpan> TakeReads();

 private:
  using Iterator = std::pair<std::uint32_t, std::uint16_t>;  // consumer, generation

  void FindConsumers();
  void OnSample(const Counted& counted);
  [[nodiscard]] bool KeepsSamples(traces::BatchKey key) const;
  void OnFetch(const Counted& counted, Batch& batch);
  void OnTransfer(const Counted& counted, Batch& batch);
  void OnRead(const traces::Span& span);

  const traces::Trace& trace_;
  RunModel& model_;
  CopyKinds kinds_;
  BatchIndex index_;
  std::uint32_t thread_ = 0;
  ProcessId process_;
  ProcessId consumer_;
  std::int64_t first_data_ = kNever;  // of the thread: reads, decodes and the like
  std::int64_t last_data_ = kNever;
  std::vector<ProcessId> consumers_;  // by process
  std::vector<bool> descends_;
  std::vector<double> idle_;          // by thread, seconds
  std::vector<ThreadWork> work_;      // by thread
  std::uint64_t keep_every_ = 1;      // of so many batches one keeps the costs of its samples
  std::deque<PlacedSample> samples_;  // grows without a copy
  std::vector<ReadSpan> reads_;
  std::size_t reads_of_thread_ = 0;
  std::int64_t reads_until_ = std::numeric_limits<std::int64_t>::max();  // all are kept until then
  std::vector<Stretch> waits_;
  std::vector<Stretch> steps_;
  std::vector<Stretch> copies_;
  std::vector<Stretch> startups_;  // of consumers
  std::map<Iterator, std::int64_t> epoch_starts_;
  std::map<Iterator, bool> epoch_ends_;
  std::map<Iterator, std::int64_t> epoch_stops_;  // ns
};

}  // namespace penstock::analyzer
