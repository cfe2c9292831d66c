// SPDX-License-Identifier: Apache-2.0

#include "agent/system/descriptors.h"

#include <stdint.h>

#include "agent/core/process.h"
#include "agent/system/sys.h"

namespace penstock::agent {
namespace {

constexpr int kKnown = 1 << 16;
uint64_t g_opened[kKnown / 64];  // atomic bits

// Counters are spread over cache lines by thread, since closes are frequent.
constexpr uintptr_t kStripes = 16;
struct alignas(64) Stripe {
  int closing;  // atomic
};
Stripe g_stripes[kStripes];

// 1 after a wait took too long: the disk is slow, or a descriptor is counted as held for ever,
// perhaps by a thread that exists only in the parent. Then nobody waits until the agent was seen to
// hold no descriptor.
uint32_t g_stale = 0;

int* OwnStripe() {
  const auto frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return &g_stripes[(frame >> 16 ^ frame >> 20 ^ frame >> 24) % kStripes].closing;
}

bool AgentHoldsAny() {
  return __atomic_load_n(&sys::g_descriptors, __ATOMIC_SEQ_CST) > 0;
}

// Forgets that `fd` is a descriptor of the program. True if that was known.
bool ForgetOpened(int fd) {
  if (fd < 0 || fd >= kKnown) {
    return false;
  }
  const uint64_t bit = uint64_t{1} << fd % 64;
  uint64_t* word = &g_opened[fd / 64];
  return (__atomic_load_n(word, __ATOMIC_RELAXED) & bit) != 0 &&
         (__atomic_fetch_and(word, ~bit, __ATOMIC_RELAXED) & bit) != 0;
}

}  // namespace

void NoteOpened(int fd) {
  if (fd >= 0 && fd < kKnown) {
    __atomic_fetch_or(&g_opened[fd / 64], uint64_t{1} << fd % 64, __ATOMIC_RELAXED);
  }
}

void NoteClosed(unsigned first, unsigned last) {
  for (unsigned fd = first; fd <= last && fd < kKnown; ++fd) {
    if (fd % 64 == 0 && fd + 63 <= last) {
      __atomic_store_n(&g_opened[fd / 64], uint64_t{0}, __ATOMIC_RELAXED);
      fd += 63;
    } else {
      ForgetOpened(static_cast<int>(fd));
    }
  }
}

CloseScope::CloseScope(int fd) : closing_(nullptr) {
  if (ForgetOpened(fd) || !g_config.on) {
    return;
  }
  closing_ = OwnStripe();
  // Count this close first, then look for held descriptors. OpenAt() first counts its descriptor,
  // then looks for closes, so one of the two sees the other.
  __atomic_fetch_add(closing_, 1, __ATOMIC_SEQ_CST);
  constexpr int kPatience = 50000;  // some milliseconds
  const bool stale = __atomic_load_n(&g_stale, __ATOMIC_RELAXED) != 0;
  int left = stale ? 0 : kPatience;
  bool held = AgentHoldsAny();
  while (held && left > 0) {
    sys::Pause();
    --left;
    held = AgentHoldsAny();
  }
  if (held != stale) {
    __atomic_store_n(&g_stale, held ? 1u : 0u, __ATOMIC_RELAXED);
  }
}

CloseScope::~CloseScope() {
  // OpenAt() may have set the counter to 0 meanwhile. It must not become negative, or it would hide
  // a later close.
  int closing = closing_ != nullptr ? __atomic_load_n(closing_, __ATOMIC_RELAXED) : 0;
  while (closing > 0 && !__atomic_compare_exchange_n(closing_, &closing, closing - 1, true,
                                                     __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
}

void ForgetDescriptorsOfOthers() {
  for (Stripe& stripe : g_stripes) {
    stripe.closing = 0;
  }
  sys::g_descriptors = 0;
  g_stale = 0;
}

namespace sys {

bool ProgramCloses() {
  bool closes = false;
  for (const Stripe& stripe : g_stripes) {
    closes = __atomic_load_n(&stripe.closing, __ATOMIC_SEQ_CST) > 0 || closes;
  }
  return closes;
}

int OpenAt(int dir, const char* path, int flags, int mode) {
  constexpr int kPatience = 20000;  // a millisecond
  __atomic_fetch_add(&g_descriptors, 1, __ATOMIC_SEQ_CST);
  for (int i = 0; ProgramCloses(); ++i) {
    if (i == kPatience) {
      // A close takes this long if it writes data out to a slow disk. Or its thread was cancelled
      // during the close, which would then stay counted for ever.
      for (Stripe& stripe : g_stripes) {
        __atomic_store_n(&stripe.closing, 0, __ATOMIC_RELAXED);
      }
      break;
    }
    CountReleased();
    Pause();
    __atomic_fetch_add(&g_descriptors, 1, __ATOMIC_SEQ_CST);
  }
  const int fd = static_cast<int>(Call(SYS_openat, dir, Pointer(path), flags, mode));
  if (fd < 0) {
    CountReleased();
  }
  // The program may have had this number and closed it without any hook (by closedir() or a raw
  // system call), so forget that it is the program's.
  ForgetOpened(fd);
  return fd;
}

}  // namespace sys
}  // namespace penstock::agent
