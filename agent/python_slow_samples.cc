// SPDX-License-Identifier: Apache-2.0
#include "agent/python_slow_samples.h"

#include <sys/mman.h>

#include "agent/python_calls.h"
#include "agent/system/sys.h"

namespace penstock::agent {
namespace {

constexpr uint32_t kMostSlow = 511;  // the table with its count takes 4 KiB

// Several processes write the table; each entry is written once. An entry of 0 is not written yet.
struct SlowTable {
  uint64_t taken;              // atomic: entries that were taken; may be larger than kMostSlow
  int64_t samples[kMostSlow];  // atomic: index + 1
};

SlowTable* g_slow = nullptr;
uint64_t g_slow_above = 0;  // ticks; 0: nothing is noted

// How many entries were taken. The newest of them may not be written yet.
uint32_t Entries() {
  if (g_slow == nullptr) {
    return 0;
  }
  const uint64_t taken = __atomic_load_n(&g_slow->taken, __ATOMIC_ACQUIRE);
  return taken < kMostSlow ? static_cast<uint32_t>(taken) : kMostSlow;
}

void Add(int64_t sample) {
  const uint32_t entries = Entries();
  for (uint32_t i = 0; i < entries; ++i) {
    if (__atomic_load_n(&g_slow->samples[i], __ATOMIC_RELAXED) == sample + 1) {
      return;
    }
  }
  if (entries < kMostSlow) {
    const uint64_t at = __atomic_fetch_add(&g_slow->taken, 1, __ATOMIC_ACQ_REL);
    if (at < kMostSlow) {
      __atomic_store_n(&g_slow->samples[at], sample + 1, __ATOMIC_RELEASE);
    }
  }
}

}  // namespace

void NoteSlowSample(Token token) {
  if (g_slow_above == 0 || g_slow == nullptr) {
    return;
  }
  const ThreadState* s = Attached();
  if (s == nullptr || token.depth > s->depth) {
    return;
  }
  const OpenSpan& span = s->open[token.depth - 1];
  if (span.stage != wire::kSample || span.serial != token.serial || s->context.sample < 0) {
    return;
  }
  const uint64_t now = Now();
  if (now - span.start > g_slow_above && now > span.start && !FollowedSince(span.start)) {
    Add(s->context.sample);
  }
}

Object* SlowShare(Object* /*self*/, Arguments, Count) {
  if (g_slow == nullptr) {
    g_slow = static_cast<SlowTable*>(sys::Map(nullptr, sizeof(SlowTable), PROT_READ | PROT_WRITE,
                                              MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  }
  return None();
}

Object* SlowAbove(Object* /*self*/, Arguments a, Count n) {
  const int64_t ticks = Number(a, n, 0, 0);
  g_slow_above = ticks > 0 ? static_cast<uint64_t>(ticks) : 0;
  return None();
}

Object* SlowCount(Object* /*self*/, Arguments, Count) {
  return g_python.from_long(Entries());
}

Object* SlowSample(Object* /*self*/, Arguments a, Count n) {
  const int64_t i = Number(a, n, 0);
  const bool known = i >= 0 && i < static_cast<int64_t>(Entries());
  return g_python.from_long(
      known ? static_cast<long long>(__atomic_load_n(&g_slow->samples[i], __ATOMIC_ACQUIRE) - 1)
            : -1);
}

}  // namespace penstock::agent
