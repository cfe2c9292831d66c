// SPDX-License-Identifier: Apache-2.0

#include "agent/system/sys.h"

#include <sys/mman.h>

#include "agent/system/descriptors.h"
#include "agent/system/memory_limits.h"

namespace penstock::agent::sys {
namespace {

// The number of threads in a system call of the agent. Spread over cache lines, since every call
// changes it.
constexpr uintptr_t kStripes = 16;
struct alignas(64) Stripe {
  int32_t calls;
};
Stripe g_stripes[kStripes] = {};

Stripe* OwnStripe() {
  // Stacks of threads lie at least some 64 KiB apart.
  const auto frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return &g_stripes[(frame >> 16 ^ frame >> 20 ^ frame >> 24) % kStripes];
}

bool AnyCalling() {
  int32_t calls = 0;
  for (const Stripe& stripe : g_stripes) {
    calls += __atomic_load_n(&stripe.calls, __ATOMIC_SEQ_CST);
  }
  return calls > 0;
}

}  // namespace

// Counts the call first, then looks at the gate. Shut() first shuts the gate, then looks at the
// count, so one of the two sees the other.
__attribute__((noinline)) long Call(long number, long a, long b, long c, long d, long e, long f) {
  int32_t* const calls = &OwnStripe()->calls;
  __atomic_fetch_add(calls, 1, __ATOMIC_SEQ_CST);
  long result = -1;
  if (__atomic_load_n(&g_shut, __ATOMIC_SEQ_CST) == 0) {
    result = Raw(number, a, b, c, d, e, f);
  }
  __atomic_fetch_sub(calls, 1, __ATOMIC_RELEASE);
  return result;
}

void Shut() {
  // Waits until no thread of the agent holds a descriptor: afterwards it could not close it.
  const CloseScope scope(-1);
  __atomic_store_n(&g_shut, 1u, __ATOMIC_SEQ_CST);
  // The wait is bounded: a call that sleeps is in the kernel already, so it needs no wait. In a
  // forked child, other threads of the parent stay counted for ever.
  constexpr int kPatience = 100000;
  for (int i = 0; i < kPatience && AnyCalling(); ++i) {
    Pause();
  }
}

void* Map(void* at, size_t size, int prot, int flags, int fd, uint64_t offset) {
  if (!RoomFor(size, (flags & MAP_SHARED) != 0 ? Memory::kShared : Memory::kPrivate)) {
    NoteLimited();
    return nullptr;
  }
  const long r = Call(SYS_mmap, Pointer(at), static_cast<long>(size), prot, flags, fd,
                      static_cast<long>(offset));
  return r < 0 && r > -4096 ? nullptr : reinterpret_cast<void*>(r);
}

}  // namespace penstock::agent::sys
