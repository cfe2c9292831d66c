// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/sample_log.h"

#include <utility>

namespace penstock::analyzer {
namespace {

// About this many costs of samples are kept, with 36 bytes each while they are collected.
constexpr std::uint64_t kKeptSamples = std::uint64_t{1} << 19;
// Spans that a sample is assumed to have: itself, a read, a decode and an augmentation.
constexpr std::uint64_t kSpansPerSample = 4;

}  // namespace

SampleLog::SampleLog(std::uint64_t spans)
    : keep_every_(1 + spans / kSpansPerSample / kKeptSamples) {}

// Keeps about every n-th batch. They are chosen by a multiplicative hash of the index, so that the
// kept batches do not all belong to the same worker.
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

// Keeps all reads of the first part of the run. A part is enough if no read in it is missing.
void ReadLog::Add(const traces::Span& span, std::uint32_t thread, ProcessId consumer) {
  constexpr std::size_t kMost = 8192;
  Limit& limit = span.batch.valid() ? for_batches_ : others_;
  if (span.start.value >= limit.until) return;
  // The calls of a coalesced read lie somewhere within its span, so the span does not tell when the
  // thread read.
  const bool whole = span.busy.value < 0 || span.busy.value * 10 > span.duration.value * 9;
  const std::uint32_t reader = span.batch.valid() && whole ? thread : ReadSpan::kNobody;
  reads_.push_back({span.start.value, span.end().value, span.bytes.value, reader, consumer.value,
                    span.batch.generation, span.batch.valid()});
  if (++limit.of_thread == kMost) limit.until = span.start.value;
}

std::vector<ReadSpan> ReadLog::Take() {
  std::erase_if(reads_, [&](const ReadSpan& read) {
    return read.start >= (read.for_batch ? for_batches_ : others_).until;
  });
  return std::move(reads_);
}

}  // namespace penstock::analyzer
