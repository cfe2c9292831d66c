// SPDX-License-Identifier: Apache-2.0

#include "agent/core/segment.h"

#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <time.h>

#include "agent/system/memory_limits.h"
#include "agent/system/sys.h"
#include "traces/wire.h"

namespace penstock::agent {
namespace {

// For how many seconds the segment of a killed run is kept; the same as for the collector's rings.
constexpr int64_t kRecoverable = 6 * 3600;
// While more than kMostLeft segments are left, each is kept for only this many seconds. A younger
// segment may belong to a process that has not attached it yet.
constexpr int64_t kYoung = 10;
constexpr uint32_t kMostLeft = 64;
constexpr int kAtOnce = 16;  // segments that one call of RemoveStaleSegments() looks at

uint32_t EffectiveUser() {
  return static_cast<uint32_t>(sys::Call(SYS_geteuid));
}

bool Stat(int command, int id, struct shmid_ds* info, long* found) {
  *found = sys::Call(SYS_shmctl, id, command, sys::Pointer(info));
  return *found >= 0;
}

bool IsOurs(const struct shmid_ds& info) {
  const uint32_t user = EffectiveUser();
  return info.shm_perm.uid == user && info.shm_perm.cuid == user && (info.shm_perm.mode & 077) == 0;
}

// A segment that nobody has attached now.
struct Left {
  int64_t since;  // seconds
  int id;         // -1: there is none
};

// Returns the oldest segment that was left later than `last`. Adds the number of all segments left
// later than `last` to `*count`.
Left OldestLeft(Left last, uint32_t* count) {
  struct shmid_ds info = {};
  long highest = 0;
  Left oldest = {INT64_MAX, -1};
  if (!Stat(SHM_INFO, 0, &info, &highest)) {
    return oldest;
  }
  for (int i = 0; i <= highest; ++i) {
    long found = 0;
    info = {};
    if (!Stat(SHM_STAT, i, &info, &found) || !IsOurs(info) || info.shm_nattch != 0 ||
        info.shm_segsz < wire::kHeaderSize + wire::kChunkSize ||
        (info.shm_segsz - wire::kHeaderSize) % wire::kChunkSize != 0) {
      continue;
    }
    const Left left = {info.shm_dtime > info.shm_ctime ? info.shm_dtime : info.shm_ctime,
                       static_cast<int>(found)};
    const bool later = left.since > last.since || (left.since == last.since && left.id > last.id);
    *count += later ? 1u : 0u;
    if (later &&
        (left.since < oldest.since || (left.since == oldest.since && left.id < oldest.id))) {
      oldest = left;
    }
  }
  return oldest;
}

// Detaching renews the segment's time. So a segment of another program is not among the oldest
// until it has become stale again, and cannot keep newer ones from being looked at.
bool HoldsRecording(int id) {
  const long at = sys::Call(SYS_shmat, id, 0, SHM_RDONLY);
  if (at < 0 && at > -4096) {
    return false;
  }
  const auto* header = reinterpret_cast<const wire::FileHeader*>(at);
  const bool holds = __builtin_memcmp(header->magic, wire::kMagic, sizeof wire::kMagic) == 0;
  sys::Call(SYS_shmdt, at);
  return holds;
}

}  // namespace

int CreateSegment(size_t size) {
  return static_cast<int>(sys::Call(SYS_shmget, IPC_PRIVATE, static_cast<long>(size),
                                    IPC_CREAT | SHM_NORESERVE | 0600));
}

bool IsOwnSegment(int id) {
  struct shmid_ds info = {};
  long found = 0;
  return id >= 0 && Stat(IPC_STAT, id, &info, &found) && IsOurs(info);
}

void* AttachSegment(int id, size_t* size) {
  struct shmid_ds info = {};
  long found = 0;
  if (id < 0 || !Stat(IPC_STAT, id, &info, &found) || !IsOurs(info) ||
      !RoomToAttach(info.shm_segsz)) {
    return nullptr;
  }
  *size = info.shm_segsz;
  const long at = sys::Call(SYS_shmat, id, 0, 0);
  if (at < 0 && at > -4096) {
    return nullptr;
  }
  // Keeps the segment out of core dumps, which are then the same as without the agent.
  sys::Call(SYS_madvise, at, static_cast<long>(*size), MADV_DONTDUMP);
  return reinterpret_cast<void*>(at);
}

void DetachSegment(const void* at) {
  sys::Call(SYS_shmdt, sys::Pointer(at));
}

void RemoveSegment(int id) {
  sys::Call(SYS_shmctl, id, IPC_RMID, 0);
}

uint64_t Attachments(int id) {
  struct shmid_ds info = {};
  long found = 0;
  return Stat(IPC_STAT, id, &info, &found) ? info.shm_nattch : 0;
}

void RemoveStaleSegments() {
  struct timespec now = {};
  sys::Call(SYS_clock_gettime, CLOCK_REALTIME, sys::Pointer(&now));
  // Starts with the oldest. All users of a host share a limit of segments (4,096 by default).
  Left last = {0, -1};
  for (int round = 0; round < kAtOnce; ++round) {
    uint32_t count = 0;
    const Left oldest = OldestLeft(last, &count);
    const int64_t age = now.tv_sec - oldest.since;
    if (oldest.id < 0 || age < (count > kMostLeft ? kYoung : kRecoverable)) {
      return;
    }
    if (HoldsRecording(oldest.id)) {
      RemoveSegment(oldest.id);
    }
    last = oldest;
  }
}

}  // namespace penstock::agent
