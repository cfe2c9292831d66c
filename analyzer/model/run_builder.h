// SPDX-License-Identifier: Apache-2.0
//
// Collects the data for BuildRunModel() in one pass over a trace. Used by run_model.cc and its
// helpers only. Owns the data; refers to the trace while it lives; not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "analyzer/model/consumers.h"
#include "analyzer/model/copy_kind.h"
#include "analyzer/model/epoch_log.h"
#include "analyzer/model/file_formats.h"
#include "analyzer/model/file_returns.h"
#include "analyzer/model/run_model.h"
#include "analyzer/model/sample_log.h"
#include "analyzer/model/sample_tail.h"
#include "traces/nesting.h"
#include "traces/trace.h"

namespace penstock::analyzer {

// A wait, step or copy on a thread.
struct Stretch {
  std::uint32_t thread = 0;
  std::int64_t start = 0;
  std::int64_t end = 0;
  traces::BatchKey key;
};

// What a thread did inside its samples, and outside of samples and fetches.
struct ThreadWork {
  double idle = 0;      // seconds
  double apart = 0;     // CPU seconds of decoding, tokenizing and transforms outside of samples and
                        // fetches
  ThreadStages stages;  // wall seconds, by stage, of the same work and of all reads
  std::uint64_t samples = 0;
  double busy = 0;              // seconds in the samples
  double cpu = 0;               // CPU seconds in the samples
  std::int64_t first = kNever;  // begin of the first sample
  std::int64_t last = kNever;   // end of the last one
};

// Call WalkSpans(), WalkEvents(), MatchWaits() and AttributeCopies() in this order, each once.
class RunBuilder final : public traces::NestingSink {
 public:
  RunBuilder(const traces::Trace& trace, RunModel& model);

  void OnCounted(const traces::Counted& counted) override;
  void WalkSpans();
  void WalkEvents();
  void MatchWaits();
  void AttributeCopies();

  [[nodiscard]] std::deque<Batch>& batches() { return index_.batches(); }
  [[nodiscard]] const Consumers& consumers() const { return consumers_; }
  [[nodiscard]] const EpochLog& epochs() const { return epochs_; }
  [[nodiscard]] double IdleOf(std::uint32_t thread) const { return threads_[thread].idle; }
  [[nodiscard]] const ThreadWork& WorkOf(std::uint32_t thread) const { return threads_[thread]; }
  // See SampleLog and ReadLog.
  [[nodiscard]] std::vector<SampleCost> TakeSamples() { return samples_.Take(batches()); }
  [[nodiscard]] std::vector<ReadSpan> TakeReads() { return reads_.Take(); }
  [[nodiscard]] std::vector<SampleTime> TakeTimes() { return times_.Take(); }
  [[nodiscard]] const FileFormats& formats() const { return formats_; }
  [[nodiscard]] FilesSeen files() const { return files_.Seen(); }

 private:
  // The thread whose spans are being read.
  struct Current {
    std::uint32_t thread = 0;
    ProcessId process;
    ProcessId consumer;
    std::optional<std::int64_t> first_data;  // start of the first read, decode or the like
    std::int64_t last_data = 0;              // end of the last one, if there is a first
  };
  // Spans that are matched with batches later, when all batches are known.
  struct Unmatched {
    std::vector<Stretch> waits;
    std::vector<Stretch> steps;
    std::vector<Stretch> copies;
  };

  void OnData(const traces::Span& span);
  void OnSample(const traces::Counted& counted);
  void OnFetch(const traces::Counted& counted, Batch& batch);
  void OnTransfer(const traces::Counted& counted, Batch& batch);
  void EndStepsAtWaits();
  [[nodiscard]] ProcessId ConsumerOf(std::uint32_t thread) const {
    return consumers_.Of(trace_.threads()[thread].process);
  }

  const traces::Trace& trace_;
  RunModel& model_;
  Consumers consumers_;
  CopyKinds kinds_;
  BatchIndex index_;
  Current at_;
  std::vector<ThreadWork> threads_;
  SampleLog samples_;
  ReadLog reads_;
  SampleTimes times_;
  FileFormats formats_;
  FileReturns files_;
  EpochLog epochs_;
  Unmatched unmatched_;
};

}  // namespace penstock::analyzer
