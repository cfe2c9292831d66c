// SPDX-License-Identifier: Apache-2.0
//
// Costs of single samples of a trace, and some thousand reads. A part of a long run is enough, so
// memory is bounded. Filled while a trace is read; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "analyzer/model/batch.h"
#include "analyzer/model/reads.h"
#include "traces/event.h"

namespace penstock::analyzer {

// Costs of the samples of every n-th batch.
class SampleLog {
 public:
  // `spans`: the number of spans in the trace.
  explicit SampleLog(std::uint64_t spans);

  [[nodiscard]] bool Keeps(traces::BatchKey batch) const;
  // `place`: the index of the sample's batch.
  void Add(std::size_t place, const SampleCost& cost) {
    samples_.push_back({static_cast<std::uint32_t>(place), cost});
  }
  // The costs, batch after batch; sets first_sample and sample_costs of `batches` accordingly.
  [[nodiscard]] std::vector<SampleCost> Take(std::deque<Batch>& batches);

 private:
  struct Placed {
    std::uint32_t place = 0;
    SampleCost cost;
  };
  std::uint64_t keep_every_;
  std::deque<Placed> samples_;  // grows without a copy
};

// Some thousand reads of each thread, up to the time when the first thread reaches its limit. Reads
// for batches and other reads have separate limits: many programs read thousands of files, such as
// labels, before their first batch.
class ReadLog {
 public:
  void BeginThread() { for_batches_.of_thread = others_.of_thread = 0; }
  void Add(const traces::Span& span, std::uint32_t thread, ProcessId consumer);
  [[nodiscard]] std::vector<ReadSpan> Take();

 private:
  struct Limit {
    std::size_t of_thread = 0;  // reads of the current thread that were kept
    std::int64_t until = std::numeric_limits<std::int64_t>::max();  // all reads before it are kept
  };

  std::vector<ReadSpan> reads_;
  Limit for_batches_;
  Limit others_;
};

}  // namespace penstock::analyzer
