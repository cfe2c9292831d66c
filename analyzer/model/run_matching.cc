// SPDX-License-Identifier: Apache-2.0
//
// Finds the batch that each wait, step and copy of the loop belongs to. Runs after all batches are
// known.
#include <algorithm>
#include <compare>

#include "analyzer/model/run_builder.h"

namespace penstock::analyzer {
namespace {

bool ByThreadAndStart(const Stretch& a, const Stretch& b) {
  return a.thread != b.thread ? a.thread < b.thread : a.start < b.start;
}

}  // namespace

// A wait span without a batch id belongs to the batch that its thread received inside the span, or
// to the end of the iterator. The step of a batch lasts from the end of its wait to the next wait
// of the thread.
void RunBuilder::MatchWaits() {
  struct Delivery {
    std::uint32_t thread;
    std::int64_t at;
    std::size_t batch;

    auto operator<=>(const Delivery&) const = default;
  };
  std::vector<Delivery> deliveries;  // for waits without an id
  std::deque<Batch>& all = batches();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].delivered == kNever) continue;
    deliveries.push_back({all[i].wait_thread, all[i].delivered, i});
  }
  std::sort(deliveries.begin(), deliveries.end());
  std::vector<Stretch>& waits = unmatched_.waits;
  std::sort(waits.begin(), waits.end(), ByThreadAndStart);
  for (Stretch& wait : waits) {
    if (!wait.key.valid()) {
      const auto next = std::lower_bound(deliveries.begin(), deliveries.end(),
                                         Delivery{wait.thread, wait.start, 0});
      // The event is emitted in the call that ends the span, at most a little later.
      constexpr std::int64_t kSlack = 1'000'000;
      if (next == deliveries.end() || next->thread != wait.thread) continue;
      if (next->at > wait.end + kSlack) continue;
      wait.key = all[next->batch].key;
    }
    Batch& batch = index_.Find(ConsumerOf(wait.thread), wait.key);
    batch.wait_start = wait.start;
    batch.delivered = wait.end;
    batch.wait_thread = wait.thread;
  }
  for (std::size_t i = 0; i + 1 < waits.size(); ++i) {
    if (!waits[i].key.valid()) continue;
    if (waits[i + 1].thread != waits[i].thread) continue;
    index_.Find(ConsumerOf(waits[i].thread), waits[i].key).step_end = waits[i + 1].start;
  }
  for (const Stretch& step : unmatched_.steps) {
    if (!step.key.valid()) continue;
    Batch& batch = index_.Find(ConsumerOf(step.thread), step.key);
    if (batch.step_end == kNever && batch.delivered != kNever) batch.step_end = step.end;
  }
  EndStepsAtWaits();
}

// Uses the events of a batch if its wait span was lost. The events tell when the batch's next() was
// entered. At that moment the step before it on the same thread ended at the latest.
void RunBuilder::EndStepsAtWaits() {
  std::vector<Batch*> delivered;
  for (Batch& batch : batches()) {
    if (batch.was_delivered()) delivered.push_back(&batch);
  }
  std::sort(delivered.begin(), delivered.end(), [](const Batch* a, const Batch* b) {
    return a->wait_thread != b->wait_thread ? a->wait_thread < b->wait_thread
                                            : a->delivered < b->delivered;
  });
  for (std::size_t i = 0; i + 1 < delivered.size(); ++i) {
    Batch& batch = *delivered[i];
    const Batch& next = *delivered[i + 1];
    if (batch.wait_thread != next.wait_thread || next.wait_start < batch.delivered) continue;
    if (batch.step_end == kNever || batch.step_end > next.wait_start) {
      batch.step_end = next.wait_start;
    }
  }
}

void RunBuilder::AttributeCopies() {
  struct Place {
    std::uint32_t thread;
    std::int64_t start;
    std::size_t batch;
  };
  std::vector<Place> places;
  std::deque<Batch>& all = batches();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].was_delivered()) places.push_back({all[i].wait_thread, all[i].delivered, i});
  }
  const auto less = [](const Place& a, const Place& b) {
    return a.thread != b.thread ? a.thread < b.thread : a.start < b.start;
  };
  std::sort(places.begin(), places.end(), less);
  // A call of the runtime inside a span of Python is the same copy, so the time in both counts only
  // once.
  std::sort(unmatched_.copies.begin(), unmatched_.copies.end(), ByThreadAndStart);
  std::uint32_t thread = 0;
  std::int64_t counted = kNever;  // the copies of `thread` are counted up to here
  for (const Stretch& copy : unmatched_.copies) {
    if (copy.thread != thread) counted = kNever;
    thread = copy.thread;
    const std::int64_t from = std::max(copy.start, counted);
    counted = std::max(copy.end, counted);
    if (copy.end <= from) continue;
    auto at =
        std::upper_bound(places.begin(), places.end(), Place{copy.thread, copy.start, 0}, less);
    if (at == places.begin()) continue;
    --at;
    Batch& batch = all[at->batch];
    if (at->thread != copy.thread || (batch.step_end != kNever && copy.start >= batch.step_end)) {
      continue;
    }
    batch.h2d += static_cast<double>(copy.end - from) * 1e-9;
  }
}

}  // namespace penstock::analyzer
