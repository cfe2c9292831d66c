// SPDX-License-Identifier: Apache-2.0

#include "agent/system/memory_limits.h"

#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/core/process.h"
#include "agent/system/scratch.h"
#include "agent/system/strings.h"
#include "agent/system/sys.h"

namespace penstock::agent {
namespace {

constexpr uint64_t kShare = 4;  // the agent takes a quarter of what is left at most

uint32_t g_locks_future = 0;  // atomic: mlockall(MCL_FUTURE) is in force
uint32_t g_trimmed = 0;       // atomic
int32_t g_claims = 0;         // atomic: threads that are claiming a chunk

bool g_tight = false;  // the ring is attached only for its header; guarded by the lock of
                       // EnsureProcess()

// Bits of the chunks that are kept when the ring is trimmed.
constexpr uint32_t kMostChunks = 1 << 16;
uint64_t g_kept[kMostChunks / 64];
uint32_t g_gave_back = 0;  // atomic, release: 1: all chunks that are not kept are unmapped

// The soft limit of `resource`; RLIM_INFINITY if the kernel does not say.
uint64_t Limit(int resource) {
  struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
  sys::Call(SYS_prlimit64, 0, resource, 0, sys::Pointer(&limit));
  return limit.rlim_cur;
}

// The n-th number of /proc/self/statm, in bytes; the largest possible number if it cannot be read.
uint64_t Used(int n) {
  PENSTOCK_SCRATCH(text);
  if (sys::ReadFile("/proc/self/statm", text, 128) == 0) {
    return ~uint64_t{0};
  }
  const char* p = text;
  for (int i = 0; i < n && *p != 0; ++p) {
    i += *p == ' ' ? 1 : 0;
  }
  const int64_t pages = ParseNumber(p);
  // On aarch64 a page has 4, 16 or 64 KiB, depending on the kernel.
  return pages < 0 ? ~uint64_t{0}
                   : static_cast<uint64_t>(pages) * static_cast<uint64_t>(getpagesize());
}

bool Fits(uint64_t bytes, uint64_t limit, int n) {
  if (limit == RLIM_INFINITY) {
    return true;
  }
  const uint64_t used = Used(n);
  return used < limit && bytes <= (limit - used) / kShare;
}

bool MayLockAnything() {
  constexpr uint32_t kIpcLock = 14;  // CAP_IPC_LOCK
  struct {
    uint32_t version;
    int32_t pid;
  } head = {0x20080522, 0};
  struct {
    uint32_t effective, permitted, inheritable;
  } sets[2] = {};
  return Limit(RLIMIT_MEMLOCK) == RLIM_INFINITY ||
         (sys::Call(SYS_capget, sys::Pointer(&head), sys::Pointer(sets)) == 0 &&
          (sets[0].effective >> kIpcLock & 1) != 0);
}

bool IsOwn(const wire::ChunkHeader* chunk) {
  return (__atomic_load_n(&chunk->state, __ATOMIC_ACQUIRE) & wire::kChunkStateMask) ==
             wire::kChunkOwned &&
         __atomic_load_n(&chunk->pid, __ATOMIC_ACQUIRE) == g_slot->pid &&
         chunk->process_start == g_slot->process_start;
}

}  // namespace

// Does not call SetFeature(): it may attach, and attaching asks for room again.
void NoteLimited() {
  __atomic_fetch_or(&g_local.features, wire::kFeatureLimited, __ATOMIC_RELAXED);
  if (g_slot != nullptr && *g_guard != 0) {
    __atomic_fetch_or(&g_slot->features, wire::kFeatureLimited, __ATOMIC_RELAXED);
  }
}

bool RoomFor(size_t bytes, Memory kind) {
  const bool locked = __atomic_load_n(&g_locks_future, __ATOMIC_RELAXED) != 0 && !MayLockAnything();
  return !locked && Fits(bytes, Limit(RLIMIT_AS), 0) &&
         (kind == Memory::kShared || Fits(bytes, Limit(RLIMIT_DATA), 5));
}

bool RoomToAttach(size_t bytes) {
  if (RoomFor(bytes, Memory::kShared)) {
    return true;
  }
  if (__atomic_load_n(&g_locks_future, __ATOMIC_RELAXED) != 0 ||
      !Fits(bytes / kShare * 2, Limit(RLIMIT_AS), 0)) {
    return false;
  }
  g_tight = true;
  return true;
}

void TrimIfTight() {
  if (g_tight) {
    NoteLimited();
    TrimRing();
  }
}

bool EnterClaim() {
  // Count this claim first, then look whether the ring is trimmed. TrimRing() first sets
  // `g_trimmed`, then looks for claims, so one of the two sees the other.
  __atomic_fetch_add(&g_claims, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&g_trimmed, __ATOMIC_SEQ_CST) == 0) {
    return true;
  }
  LeaveClaim();
  return false;
}

void LeaveClaim() {
  __atomic_fetch_sub(&g_claims, 1, __ATOMIC_SEQ_CST);
}

void TrimRing() {
  if (g_header == nullptr || g_slot == nullptr || g_header->chunk_count == 0 ||
      g_header->chunk_count > kMostChunks ||
      __atomic_exchange_n(&g_trimmed, 1u, __ATOMIC_SEQ_CST) != 0) {
    return;
  }
  constexpr int kPatience = 100000;  // some milliseconds
  for (int i = 0; i < kPatience; ++i) {
    if (__atomic_load_n(&g_claims, __ATOMIC_SEQ_CST) == 0) {
      break;
    }
    sys::Pause();
  }
  if (__atomic_load_n(&g_claims, __ATOMIC_SEQ_CST) != 0) {
    return;  // a claim is under way, perhaps interrupted by this signal handler
  }
  char* const chunks = reinterpret_cast<char*>(g_header) + wire::kHeaderSize;
  const uint32_t count = g_header->chunk_count;
  for (uint32_t i = 0; i < count; ++i) {
    // A forked child that has recorded nothing owns no chunk.
    if (*g_guard != 0 &&
        IsOwn(reinterpret_cast<wire::ChunkHeader*>(chunks + uint64_t{i} * wire::kChunkSize))) {
      g_kept[i / 64] |= uint64_t{1} << i % 64;
    }
  }
  __atomic_store_n(&g_gave_back, 1u, __ATOMIC_RELEASE);
  for (uint32_t from = 0, to; from < count; from = to + 1) {
    for (to = from; to < count && !IsMapped(to); ++to) {
    }
    if (to > from) {
      sys::Unmap(chunks + uint64_t{from} * wire::kChunkSize,
                 uint64_t{to - from} * wire::kChunkSize);
    }
  }
}

bool IsTrimmed() {
  return __atomic_load_n(&g_trimmed, __ATOMIC_RELAXED) != 0;
}

bool IsMapped(uint32_t chunk) {
  return __atomic_load_n(&g_gave_back, __ATOMIC_ACQUIRE) == 0 ||
         (chunk < kMostChunks && (g_kept[chunk / 64] >> chunk % 64 & 1) != 0);
}

void BeforeLockingAll(int flags) {
  if (!g_config.on || sys::IsShut()) {
    return;
  }
  if ((flags & MCL_FUTURE) != 0) {
    __atomic_store_n(&g_locks_future, 1u, __ATOMIC_RELAXED);
  }
  if (!MayLockAnything()) {
    if ((flags & MCL_CURRENT) != 0 && g_header != nullptr) {
      NoteLimited();
      TrimRing();
    }
  }
}

}  // namespace penstock::agent
