// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/sample_log.h"

#include <algorithm>
#include <utility>

namespace penstock::analyzer {
namespace {

// The costs of so many samples are kept, at 24 bytes each, and not much more.
constexpr std::uint64_t kKeptSamples = std::uint64_t{1} << 19;
// A sample has at least so many spans: itself, a read, a decode and an augmentation.
constexpr std::uint64_t kSpansPerSample = 4;

}  // namespace

SampleLog::SampleLog(std::uint64_t spans)
    : keep_every_(1 + spans / kSpansPerSample / kKeptSamples) {}

// Every n-th batch, but not in step with the workers: a multiplicative hash chooses.
bool SampleLog::Keeps(traces::BatchKey batch) const {
  return keep_every_ == 1 || (batch.index * 0x9e3779b1u >> 16) % keep_every_ == 0;
}

std::vector<SampleCost> SampleLog::Take(std::deque<Batch>& batches) {
  for (const Placed& sample : samples_) ++batches[sample.place].sample_costs;
  std::size_t first = 0;
  for (Batch& batch : batches) {
    batch.first_sample = first;
    first += batch.sample_costs;
    batch.sample_costs = 0;
  }
  std::vector<SampleCost> sorted(samples_.size());
  for (const Placed& sample : samples_) {
    Batch& batch = batches[sample.place];
    sorted[batch.first_sample + batch.sample_costs++] = sample.cost;
  }
  samples_ = {};
  return sorted;
}

// Reads of a part of the run suffice, if none of that part is missing.
void ReadLog::Add(const traces::Span& span, std::uint32_t thread, ProcessId consumer) {
  constexpr std::size_t kMost = 8192;
  if (span.start.value >= until_) return;
  // The calls of a coalesced read are somewhere inside it: it cannot tell when it read.
  const bool whole = span.busy.value < 0 || span.busy.value * 10 > span.duration.value * 9;
  const std::uint32_t reader = span.batch.valid() && whole ? thread : ReadSpan::kNobody;
  reads_.push_back({span.start.value, span.end().value, span.bytes.value, reader, consumer.value,
                    span.batch.generation});
  if (++reads_of_thread_ == kMost) until_ = span.start.value;
}

std::vector<ReadSpan> ReadLog::Take() {
  reads_.erase(std::remove_if(reads_.begin(), reads_.end(),
                              [&](const ReadSpan& read) { return read.start >= until_; }),
               reads_.end());
  return std::move(reads_);
}

}  // namespace penstock::analyzer
