// SPDX-License-Identifier: Apache-2.0

#include "agent/segment.h"

#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <time.h>

#include "agent/memory_limits.h"
#include "agent/sys.h"
#include "traces/wire.h"

namespace penstock::agent {
namespace {

constexpr int64_t kRecoverable = 6 * 3600;  // seconds; as for the collector's rings

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

}  // namespace

int CreateSegment(size_t size) {
  return static_cast<int>(sys::Call(SYS_shmget, IPC_PRIVATE, static_cast<long>(size),
                                    IPC_CREAT | SHM_NORESERVE | 0600));
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
  // A core dump is to hold what it would hold without us.
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
  struct shmid_ds info = {};
  long highest = 0;
  if (!Stat(SHM_INFO, 0, &info, &highest)) {
    return;
  }
  struct timespec now = {};
  sys::Call(SYS_clock_gettime, CLOCK_REALTIME, sys::Pointer(&now));
  for (int i = 0; i <= highest; ++i) {
    long id = 0;
    info = {};
    if (!Stat(SHM_STAT, i, &info, &id) || !IsOurs(info) || info.shm_nattch != 0 ||
        info.shm_segsz < wire::kHeaderSize + wire::kChunkSize ||
        (info.shm_segsz - wire::kHeaderSize) % wire::kChunkSize != 0 ||
        now.tv_sec - info.shm_dtime < kRecoverable || now.tv_sec - info.shm_ctime < kRecoverable) {
      continue;
    }
    const long at = sys::Call(SYS_shmat, id, 0, SHM_RDONLY);
    if (at < 0 && at > -4096) {
      continue;
    }
    const auto* header = reinterpret_cast<const wire::FileHeader*>(at);
    const bool recording = __builtin_memcmp(header->magic, wire::kMagic, sizeof wire::kMagic) == 0;
    sys::Call(SYS_shmdt, at);
    if (recording) {
      RemoveSegment(static_cast<int>(id));
    }
  }
}

}  // namespace penstock::agent
