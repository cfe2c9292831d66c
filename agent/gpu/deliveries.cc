// SPDX-License-Identifier: Apache-2.0

#include "agent/gpu/deliveries.h"

#include "agent/core/recorder.h"
#include "agent/system/sys.h"

namespace penstock::agent {
namespace {

// `sequence` is 2 n + 1 while delivery n is written, and 2 n + 2 when it is whole. An entry that
// changes while it is read counts as absent. The table of 1024 deliveries covers a second of a loop
// with steps of 1 ms.
struct Delivery {
  uint64_t sequence;
  uint64_t ticks;
  uint32_t tid;
  uint32_t batch;
  uint64_t generation;
};
constexpr uint64_t kDeliveries = 1024;
Delivery g_deliveries[kDeliveries];
uint64_t g_next = 0;  // atomic: deliveries so far

template <class T>
T Load(const T& field) {
  return __atomic_load_n(&field, __ATOMIC_RELAXED);
}

bool Read(uint64_t n, Delivery* to) {
  const Delivery& from = g_deliveries[n % kDeliveries];
  const uint64_t before = __atomic_load_n(&from.sequence, __ATOMIC_ACQUIRE);
  *to = {before, Load(from.ticks), Load(from.tid), Load(from.batch), Load(from.generation)};
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return before == 2 * n + 2 && Load(from.sequence) == before;
}

}  // namespace

void NoteDelivery(uint32_t batch, uint16_t generation) {
  const uint64_t n = __atomic_fetch_add(&g_next, uint64_t{1}, __ATOMIC_RELAXED);
  Delivery& d = g_deliveries[n % kDeliveries];
  __atomic_store_n(&d.sequence, 2 * n + 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  __atomic_store_n(&d.ticks, Now(), __ATOMIC_RELAXED);
  __atomic_store_n(&d.tid, sys::Tid(), __ATOMIC_RELAXED);
  __atomic_store_n(&d.batch, batch, __ATOMIC_RELAXED);
  __atomic_store_n(&d.generation, uint64_t{generation}, __ATOMIC_RELAXED);
  __atomic_store_n(&d.sequence, 2 * n + 2, __ATOMIC_RELEASE);
}

Context BatchAt(uint32_t tid, uint64_t ticks) {
  Context of_any;
  bool found = false;
  const uint64_t end = __atomic_load_n(&g_next, __ATOMIC_ACQUIRE);
  const uint64_t first = end > kDeliveries ? end - kDeliveries : 0;
  uint64_t patience = 64;  // deliveries to look at after one of another thread was found
  for (uint64_t n = end; n > first && patience > 0; --n) {
    patience -= found ? 1u : 0u;
    Delivery d;
    if (!Read(n - 1, &d) || d.ticks > ticks) {
      continue;
    }
    Context context;
    context.batch = d.batch;
    context.generation = static_cast<uint16_t>(d.generation);
    if (d.tid == tid) {
      return context;
    }
    if (!found) {
      found = true;
      of_any = context;
    }
  }
  return of_any;
}

}  // namespace penstock::agent
