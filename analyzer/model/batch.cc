// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/batch.h"

#include <algorithm>

namespace penstock::analyzer {
namespace {

double SecondsBetween(std::int64_t from, std::int64_t to) {
  return from == kNever || to == kNever || to < from ? 0 : static_cast<double>(to - from) * 1e-9;
}

}  // namespace

double Batch::wait() const {
  return SecondsBetween(wait_start, delivered);
}

double Batch::step() const {
  return SecondsBetween(delivered, step_end);
}

double Batch::loop_step() const {
  return SecondsBetween(delivered, next_wait == kNever ? step_end : next_wait);
}

std::int64_t Batch::available() const {
  if (put_end != kNever) return fetch_end == kNever ? put_end : std::max(put_end, fetch_end);
  return fetch_end;
}

std::size_t BatchIndex::PlaceOf(ProcessId consumer, traces::BatchKey key) {
  const std::uint64_t place = (static_cast<std::uint64_t>(consumer.value & 0xffffu) << 48) |
                              (static_cast<std::uint64_t>(key.generation) << 32) | key.index;
  const auto [found, added] = places_.try_emplace(place, batches_.size());
  if (added) {
    Batch batch;
    batch.key = key;
    batch.consumer = consumer;
    batches_.push_back(batch);
  }
  return found->second;
}

}  // namespace penstock::analyzer
