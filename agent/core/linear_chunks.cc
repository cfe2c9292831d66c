// SPDX-License-Identifier: Apache-2.0

#include "agent/core/linear_chunks.h"

#include <signal.h>
#include <time.h>

#include "agent/core/linear_output.h"
#include "agent/core/output.h"
#include "agent/core/process.h"
#include "agent/system/memory_limits.h"
#include "agent/system/sys.h"

namespace penstock::agent {
namespace {

constexpr uint32_t kSweeping = 3;  // one more wire::ChunkState: a thread writes or frees the chunk
// Values of ChunkHeader::drained: what the file holds at the chunk's index.
constexpr uint64_t kItsRecords = 1;
constexpr uint64_t kNoRecords = 2;  // only the header, with open spans and pending reads

// Whether the process that was claiming this chunk was killed before it wrote its pid into the
// chunk.
bool ClaimerIsDead(const wire::ChunkHeader* chunk, uint32_t state) {
  const uint32_t slot = (state >> wire::kChunkClaimerShift) - 1;
  if ((state & wire::kChunkStateMask) != wire::kChunkOwned || slot >= wire::kMaxProcesses ||
      __atomic_load_n(&chunk->pid, __ATOMIC_ACQUIRE) != 0 || g_slot == nullptr) {
    return false;
  }
  const wire::ProcessSlot& process = g_header->processes[slot];
  return process.pid_namespace == g_slot->pid_namespace &&
         sys::Call(SYS_kill, process.pid, 0) == -3 /* ESRCH */;
}

// Whether the thread of this chunk has ended. False if its process lives in another pid namespace,
// since its pid and tid are not valid in ours.
bool IsDead(const wire::ChunkHeader* chunk) {
  if (chunk->process >= wire::kMaxProcesses || g_slot == nullptr ||
      g_header->processes[chunk->process].pid_namespace != g_slot->pid_namespace) {
    return false;
  }
  const uint32_t tid = chunk->writer != 0 ? chunk->writer : chunk->tid;
  return sys::Call(SYS_tgkill, chunk->pid, tid, 0) == -3 /* ESRCH */;
}

// Whether the thread has written the chunk but has not yet given it its next place in the file. The
// chunk's index may still be that of the records in the file.
bool IsBetweenPlaces(const wire::ChunkHeader* chunk) {
  return __atomic_load_n(&chunk->committed, __ATOMIC_ACQUIRE) == 0 &&
         __atomic_load_n(&chunk->drained, __ATOMIC_RELAXED) == kItsRecords;
}

// Makes the chunk free for other threads. Requires: the chunk was written out, or its claimer died
// before it owned the chunk.
void FreeChunk(wire::ChunkHeader* chunk) {
  __atomic_store_n(&chunk->inflight_depth, 0u, __ATOMIC_RELAXED);
  __atomic_store_n(&chunk->operation.stage, uint8_t{0}, __ATOMIC_RELAXED);
  __atomic_store_n(&chunk->committed, 0u, __ATOMIC_RELAXED);
  __atomic_store_n(&chunk->pid, 0u, __ATOMIC_RELAXED);
  __atomic_store_n(&chunk->drained, uint64_t{0}, __ATOMIC_RELAXED);
  chunk->tid = 0;
  chunk->writer = 0;
  chunk->process_start = 0;
  __atomic_store_n(&chunk->state, uint32_t{wire::kChunkFree}, __ATOMIC_RELEASE);
}

// Takes a chunk from its `*state` into kSweeping, in which nobody else writes it to the file or
// frees it. False, with the present `*state`, if another thread has changed it.
bool Sweep(wire::ChunkHeader* chunk, uint32_t* state) {
  return *state != kSweeping && __atomic_compare_exchange_n(&chunk->state, state, kSweeping, false,
                                                            __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

// Requires: Sweep() has taken the chunk.
void WriteAndFree(wire::ChunkHeader* chunk) {
  if (WriteOut(chunk)) {
    FreeChunk(chunk);
  } else {
    __atomic_store_n(&chunk->state, uint32_t{wire::kChunkFull}, __ATOMIC_RELEASE);
  }
}

}  // namespace

wire::ChunkHeader* ChunkAt(uint32_t i) {
  if (!IsMapped(i)) {
    return nullptr;
  }
  return reinterpret_cast<wire::ChunkHeader*>(reinterpret_cast<char*>(g_header) +
                                              wire::kHeaderSize + uint64_t{i} * wire::kChunkSize);
}

bool IsInUse(const wire::ChunkHeader* chunk) {
  return chunk != nullptr && __atomic_load_n(&chunk->pid, __ATOMIC_ACQUIRE) != 0 &&
         __atomic_load_n(&chunk->state, __ATOMIC_RELAXED) != wire::kChunkFree;
}

bool WriteOutTo(int fd, wire::ChunkHeader* chunk) {
  if (IsBetweenPlaces(chunk)) {
    if (!IsDead(chunk)) {
      return true;
    }
    // The chunk header of a dead thread may still say which spans were open. The chunk gets a new
    // place in the file, since at its old one it would overwrite the thread's records.
    uint32_t index = 0;
    if (!TakePlace(&index)) {
      return false;
    }
    __atomic_store_n(&chunk->index, index, __ATOMIC_RELEASE);
    __atomic_store_n(&chunk->drained, uint64_t{0}, __ATOMIC_RELAXED);
  }
  const bool empty = __atomic_load_n(&chunk->committed, __ATOMIC_ACQUIRE) == 0;
  const bool first =
      __atomic_exchange_n(&chunk->drained, empty ? kNoRecords : kItsRecords, __ATOMIC_RELAXED) == 0;
  const bool written = WriteChunk(fd, chunk);
  if (first && written) {
    __atomic_fetch_add(&g_header->written_chunks, 1u, __ATOMIC_RELAXED);
  } else if (first) {
    __atomic_store_n(&chunk->drained, uint64_t{0}, __ATOMIC_RELAXED);
  }
  return written;
}

bool WriteOut(wire::ChunkHeader* chunk) {
  const int fd = OpenOrRelocate();
  if (fd < 0) {
    return false;
  }
  const bool written = WriteOutTo(fd, chunk);
  if (written) {
    WriteHeader(fd, g_header);
  }
  CloseOutput(fd);
  return written;
}

void WriteUnlessRetired(int fd, wire::ChunkHeader* chunk) {
  uint32_t state = __atomic_load_n(&chunk->state, __ATOMIC_ACQUIRE);
  if (state == wire::kChunkFree || !Sweep(chunk, &state)) {
    return;
  }
  if (IsInUse(chunk)) {
    WriteOutTo(fd, chunk);
  }
  uint32_t ours = kSweeping;
  __atomic_compare_exchange_n(&chunk->state, &ours, state, false, __ATOMIC_RELEASE,
                              __ATOMIC_RELAXED);
}

void RetireChunk(wire::ChunkHeader* chunk) {
  constexpr int kPatience = 200;  // 500 us each: another thread may be writing the chunk to a disk
  uint32_t state = __atomic_load_n(&chunk->state, __ATOMIC_ACQUIRE);
  for (int i = 0; !Sweep(chunk, &state); ++i) {
    if (i == kPatience) {
      return;
    }
    if (state == kSweeping) {
      struct timespec pause = {0, 500000};
      sys::Call(SYS_nanosleep, sys::Pointer(&pause), 0);
      state = __atomic_load_n(&chunk->state, __ATOMIC_ACQUIRE);
    }
  }
  WriteAndFree(chunk);
}

void ReclaimDeadChunks() {
  for (uint32_t i = 0; i < g_header->chunk_count; ++i) {
    wire::ChunkHeader* chunk = ChunkAt(i);
    if (chunk == nullptr) {
      continue;
    }
    uint32_t state = __atomic_load_n(&chunk->state, __ATOMIC_ACQUIRE);
    const bool given_up = state == wire::kChunkFull;
    const bool holds = IsInUse(chunk);
    const bool dead = holds ? given_up || IsDead(chunk) : ClaimerIsDead(chunk, state);
    // `state` of an owned chunk names its claimer, so the exchange fails if another process has
    // taken the chunk meanwhile.
    if (dead && Sweep(chunk, &state)) {
      if (holds || IsInUse(chunk)) {
        WriteAndFree(chunk);
      } else {
        FreeChunk(chunk);
      }
    }
  }
}

}  // namespace penstock::agent
