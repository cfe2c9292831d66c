// SPDX-License-Identifier: Apache-2.0
//
// What single samples of a trace cost, and some thousand reads: a part of a long run suffices, in
// bounded memory. Filled while a trace is read; not thread-safe.
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
  // `spans`: how many the trace has.
  explicit SampleLog(std::uint64_t spans);

  [[nodiscard]] bool Keeps(traces::BatchKey batch) const;
  // `place`: of the batch that the sample is for.
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

// Some thousand reads of each thread, of a time when all that read were recorded.
class ReadLog {
 public:
  void BeginThread() { reads_of_thread_ = 0; }
  void Add(const traces::Span& span, std::uint32_t thread, ProcessId consumer);
  [[nodiscard]] std::vector<ReadSpan> Take();

 private:
  std::vector<ReadSpan> reads_;
  std::size_t reads_of_thread_ = 0;
  std::int64_t until_ = std::numeric_limits<std::int64_t>::max();  // all are kept until then
};

}  // namespace penstock::analyzer
