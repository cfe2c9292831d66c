// SPDX-License-Identifier: Apache-2.0

#include "agent/core/linear.h"

#include <time.h>

#include <initializer_list>

#include "agent/core/anchor.h"
#include "agent/core/linear_chunks.h"
#include "agent/core/linear_output.h"
#include "agent/core/output.h"
#include "agent/core/process.h"
#include "agent/core/segment.h"
#include "agent/core/thread_state.h"
#include "agent/system/memory_limits.h"
#include "agent/system/strings.h"
#include "agent/system/sys.h"
#include "agent/system/time_namespace.h"

namespace penstock::agent {
namespace {

constexpr long kExist = -17;  // EEXIST
// Sizes of a segment, tried in turn. Each thread keeps one chunk until it ends. Only chunks that
// are used take memory.
constexpr uint32_t kSegmentChunks[] = {1022, 254, 62, 14};

int g_segment = -1;
uint32_t g_finished = 0;  // 1: FinishLinear() has sealed the file

// Fills in all but the magic, which is written last and says that the rest is there.
void FillHeader(wire::FileHeader* h) {
  h->major = wire::kMajor;
  h->minor = wire::kMinor;
  h->header_size = wire::kHeaderSize;
  h->chunk_size = wire::kChunkSize;
  h->record_size = wire::kRecordSize;
  h->mode = wire::kLinear;
  g_tsc = !g_config.monotonic && TscIsClock();
  h->clock = g_tsc ? wire::kClockTsc : wire::kClockMonotonic;
  h->uuid[0] = RunHash();
  h->uuid[1] = ClockNs(CLOCK_REALTIME);
  sys::ReadFile("/proc/sys/kernel/random/boot_id", h->boot_id, sizeof h->boot_id);
  sys::ReadFile("/proc/sys/kernel/hostname", h->host, sizeof h->host);
  for (char* p : {h->boot_id, h->host}) {
    size_t n = Length(p);
    if (n > 0 && p[n - 1] == '\n') {
      p[n - 1] = 0;
    }
  }
  h->root_pid = sys::Pid();
  const TimeOffsets offsets = OwnTimeOffsets();
  h->monotonic_offset_ns = offsets.monotonic_ns;
  h->boottime_offset_ns = offsets.boottime_ns;
  h->recording = 1;
  h->max_chunks = g_config.max_bytes / wire::kChunkSize;
  h->batch_limit = g_config.batches;
  // Two anchors 2 ms apart give the reader a first tick rate. The anchors of the chunks refine that
  // rate.
  const wire::ClockAnchor first = TakeAnchor();
  struct timespec wait = {0, 2000000};
  if (g_tsc) {
    sys::Call(SYS_nanosleep, sys::Pointer(&wait), 0);
  }
  const wire::ClockAnchor second = TakeAnchor();
  h->ticks_per_second = 1000000000u;
  if (g_tsc && second.monotonic_ns > first.monotonic_ns) {
    h->ticks_per_second =
        static_cast<uint64_t>(static_cast<double>(second.ticks - first.ticks) * 1e9 /
                              static_cast<double>(second.monotonic_ns - first.monotonic_ns));
  }
  h->anchors[0] = first;
  h->anchors[1] = second;
  h->anchor_count = 2;
}

// A fresh segment, attached; g_segment is its id.
wire::FileHeader* MakeSegment(size_t* size) {
  RemoveStaleSegments();
  for (const uint32_t chunks : kSegmentChunks) {
    const size_t bytes = wire::kHeaderSize + size_t{chunks} * wire::kChunkSize;
    if (!RoomFor(bytes, Memory::kShared)) {
      continue;
    }
    g_segment = CreateSegment(bytes);
    auto* header = static_cast<wire::FileHeader*>(AttachSegment(g_segment, size));
    if (header != nullptr) {
      header->chunk_count = chunks;
      header->segment = static_cast<uint32_t>(g_segment) + 1;
      return header;
    }
    if (g_segment >= 0) {
      RemoveSegment(g_segment);
    }
  }
  g_segment = -1;
  NoteLimited();
  return nullptr;
}

void DropSegment(const wire::FileHeader* header) {
  RemoveSegment(g_segment);
  DetachSegment(header);
  g_segment = -1;
}

// Attaches the segment that the other processes of this run write into. If they have sealed the
// file, or the segment is gone, makes a new one that continues the file. Requires: the lock of the
// file.
wire::FileHeader* JoinUnderLock(const char* path, const OutputLook& seen, size_t* size) {
  // Look again: while we waited for the lock, others may have sealed the file or continued it.
  const OutputLook look = LookAtOutput(path, RunHash());
  if (look.kind != OutputLook::kOfThisRun) {
    return nullptr;
  }
  CloseOutput(look.fd);
  RememberOutput(path, RunHash(), seen.fd);
  if (!look.sealed && look.segment >= 0) {
    auto* header = static_cast<wire::FileHeader*>(AttachSegment(look.segment, size));
    if (header != nullptr && *size >= wire::kHeaderSize && header->uuid[0] == RunHash() &&
        header->segment == static_cast<uint32_t>(look.segment) + 1) {
      g_segment = look.segment;
      return header;
    }
    if (header != nullptr) {
      DetachSegment(header);
    } else if (IsOwnSegment(look.segment)) {
      return nullptr;  // the segment holds records of other processes and must stay this file's
                       // segment
    }
  }
  wire::FileHeader* header = MakeSegment(size);
  if (header == nullptr) {
    return nullptr;
  }
  const uint32_t chunks = header->chunk_count;
  if (!ReadHeader(seen.fd, header)) {
    DropSegment(header);
    return nullptr;
  }
  header->chunk_count = chunks;
  header->segment = static_cast<uint32_t>(g_segment) + 1;
  header->sealed = 0;
  header->late_writers = 0;
  g_tsc = header->clock == wire::kClockTsc;
  if (!WriteHeader(seen.fd, header)) {
    DropSegment(header);
    return nullptr;
  }
  return header;
}

wire::FileHeader* Join(const char* path, const OutputLook& look, size_t* size) {
  wire::FileHeader* header = nullptr;
  if (LockOutput(look.fd)) {
    header = JoinUnderLock(path, look, size);
    UnlockOutput(look.fd);
  }
  return header;
}

// Makes the file and its segment. Sets `*taken` if the name is taken by now.
wire::FileHeader* Make(const char* path, bool replace, size_t* size, bool* taken) {
  wire::FileHeader* header = MakeSegment(size);
  if (header == nullptr) {
    return nullptr;
  }
  FillHeader(header);
  __builtin_memcpy(header->magic, wire::kMagic, sizeof wire::kMagic);
  const long made = CreateOutput(path, header, replace);
  if (made == 0) {
    return header;
  }
  DropSegment(header);
  *taken = made == kExist;
  return nullptr;
}

// Writes what is left and finishes the file. Requires: the lock of the file, so that nobody joins
// meanwhile, and that no thread of ours writes.
void Seal(int fd) {
  bool whole = true;
  for (uint32_t i = 0; i < g_header->chunk_count; ++i) {
    wire::ChunkHeader* chunk = ChunkAt(i);
    whole = (!IsInUse(chunk) || WriteOutTo(fd, chunk)) && whole;
  }
  if (!whole) {
    return;
  }
  const uint32_t chunks = __atomic_load_n(&g_header->next_chunk, __ATOMIC_RELAXED);
  __atomic_store_n(&g_header->allocated_chunks, chunks, __ATOMIC_RELAXED);
  __atomic_store_n(&g_header->sealed, 1u, __ATOMIC_RELEASE);
  if (WriteHeader(fd, g_header)) {
    TrimOutput(fd, chunks);
    RemoveSegment(g_segment);
    // From here on, threads that count losses write the header themselves (NoteLateLoss()). The
    // header written below holds what they counted before.
    __atomic_store_n(&g_finished, 1u, __ATOMIC_SEQ_CST);
    WriteHeader(fd, g_header);
  } else {
    __atomic_store_n(&g_header->sealed, 0u, __ATOMIC_RELEASE);
  }
}

}  // namespace

wire::FileHeader* AttachLinear(size_t* size) {
  const char* beside = NameOutputs();
  bool replace = g_config.force;
  // Another process may create or remove the file between two looks.
  for (int attempt = 0; attempt < 8; ++attempt) {
    const OutputLook first = LookAtOutput(g_config.out, RunHash());
    const char* path = g_config.out;
    OutputLook look = first;
    if (first.kind != OutputLook::kOfThisRun && beside != nullptr) {
      look = LookAtOutput(beside, RunHash());
      path = beside;
    }
    if (look.kind == OutputLook::kOfThisRun) {
      wire::FileHeader* joined = Join(path, look, size);
      CloseOutput(look.fd);
      return joined;
    }
    bool taken = false;
    wire::FileHeader* made = nullptr;
    if (first.kind == OutputLook::kAbsent || replace) {
      made = Make(g_config.out, replace && first.kind != OutputLook::kAbsent, size, &taken);
      replace = false;
    } else if (beside != nullptr) {
      made = Make(beside, false, size, &taken);
    }
    if (made != nullptr || !taken) {
      return made;
    }
  }
  return nullptr;
}

void FinishLinear() {
  const int fd = g_finished == 0 ? OpenOrRelocate() : -1;
  if (fd < 0) {
    return;
  }
  if (LockOutput(fd)) {
    if (Attachments(g_segment) == 1 && !IsTrimmed()) {
      if (StopThreads()) {
        Seal(fd);
        if (g_finished == 0) {
          UnmarkEnded();
        }
      }
    } else {
      for (uint32_t i = 0; i < g_header->chunk_count; ++i) {
        wire::ChunkHeader* chunk = ChunkAt(i);
        if (IsInUse(chunk) && chunk->process == g_slot_index) {
          WriteUnlessRetired(fd, chunk);
        }
      }
      WriteHeader(fd, g_header);
    }
    UnlockOutput(fd);
  }
  CloseOutput(fd);
}

void NoteLateLoss() {
  if (__atomic_load_n(&g_finished, __ATOMIC_ACQUIRE) == 0) {
    return;
  }
  const int fd = OpenOutput();
  if (fd >= 0) {
    WriteHeader(fd, g_header);
    CloseOutput(fd);
  }
}

}  // namespace penstock::agent
