// SPDX-License-Identifier: Apache-2.0

#include "agent/core/linear.h"

#include <signal.h>
#include <time.h>

#include <initializer_list>

#include "agent/core/anchor.h"
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

// The file grows by this many chunks (4 MiB) at a time.
constexpr uint32_t kGrowChunks = 64;
constexpr long kExist = -17;  // EEXIST
// Sizes of a segment, tried in turn. A thread keeps one chunk as long as it lives, and only chunks
// that are used take memory.
constexpr uint32_t kSegmentChunks[] = {1022, 254, 62, 14};
constexpr uint32_t kSweeping = 3;  // one more wire::ChunkState: a thread is freeing the chunk
// Values of ChunkHeader::drained: what the file holds at the chunk's index.
constexpr uint64_t kItsRecords = 1;
constexpr uint64_t kNoRecords = 2;  // only its header, with open spans and pending reads

int g_segment = -1;
char g_beside[4200] = {};   // name to which the run moves if its file is lost
long g_user = -1;           // the user who owns the file
uint32_t g_relocating = 0;  // a thread is moving the run there
uint32_t g_finished = 0;    // FinishLinear() has sealed the file

uint64_t RunHash() {
  return wire::HashOf(g_config.run, Length(g_config.run));
}

wire::ChunkHeader* ChunkAt(uint32_t i) {
  if (!IsMapped(i)) {
    return nullptr;
  }
  return reinterpret_cast<wire::ChunkHeader*>(reinterpret_cast<char*>(g_header) +
                                              wire::kHeaderSize + uint64_t{i} * wire::kChunkSize);
}

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
  // Two anchors 2 ms apart give the reader a first tick rate. The anchors of the chunks refine it.
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
      return nullptr;  // it holds the others' records and must stay this file's segment
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

// Makes the file and its segment. `*taken`: whether something else has the name by now.
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

// Opens the output. If somebody has removed, cut or replaced the file, moves the run to the name
// beside it and opens that. A process that has become another user's (setuid) does not: its chunks
// stay in the segment, for the other processes or a reader.
int OpenOrRelocate() {
  int fd = OpenOutput();
  uint32_t expected = 0;
  if (fd >= 0 || g_beside[0] == 0 || g_user != sys::Call(SYS_geteuid) ||
      !__atomic_compare_exchange_n(&g_relocating, &expected, 1u, false, __ATOMIC_ACQUIRE,
                                   __ATOMIC_RELAXED)) {
    return fd;
  }
  const OutputLook lost = LookAtOutput(g_config.out, RunHash());
  OutputLook look = LookAtOutput(g_beside, RunHash());
  if (lost.kind == OutputLook::kOfThisRun) {
    CloseOutput(lost.fd);  // the file is there, but cannot be written
  } else if (look.kind == OutputLook::kOfThisRun) {
    RememberOutput(g_beside, RunHash(), look.fd);
  } else if (look.kind == OutputLook::kAbsent) {
    CreateOutput(g_beside, g_header, false);
  }
  if (look.kind == OutputLook::kOfThisRun) {
    CloseOutput(look.fd);
  }
  __atomic_store_n(&g_relocating, 0u, __ATOMIC_RELEASE);
  return OpenOutput();
}

void TwoDigits(Text& text, int64_t value) {
  text.Add(value < 10 ? "0" : "").Number(static_cast<uint64_t>(value));
}

// Appends the date of a day, counted from 1970-01-01. Source: Howard Hinnant, "chrono-Compatible
// Low-Level Date Algorithms", civil_from_days.
void AddDate(Text& text, int64_t days) {
  const int64_t shifted = days + 719468;
  const int64_t era = shifted / 146097;
  const int64_t of_era = shifted - era * 146097;
  const int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const int64_t day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t shifted_month = (5 * day_of_year + 2) / 153;
  const int64_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  text.Number(static_cast<uint64_t>(year_of_era + era * 400 + (month <= 2 ? 1 : 0)));
  TwoDigits(text, month);
  TwoDigits(text, day_of_year - (153 * shifted_month + 2) / 5 + 1);
}

// Whether the process that was claiming this chunk was killed before it had written its pid there.
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
// where its numbers mean nothing to us.
bool IsDead(const wire::ChunkHeader* chunk) {
  if (chunk->process >= wire::kMaxProcesses || g_slot == nullptr ||
      g_header->processes[chunk->process].pid_namespace != g_slot->pid_namespace) {
    return false;
  }
  const uint32_t tid = chunk->writer != 0 ? chunk->writer : chunk->tid;
  return sys::Call(SYS_tgkill, chunk->pid, tid, 0) == -3 /* ESRCH */;
}

// `chunk` is nullptr where this process has given it back.
bool HoldsSomething(const wire::ChunkHeader* chunk) {
  return chunk != nullptr && __atomic_load_n(&chunk->pid, __ATOMIC_ACQUIRE) != 0 &&
         __atomic_load_n(&chunk->state, __ATOMIC_RELAXED) != wire::kChunkFree;
}

// Whether the thread has written the chunk and not yet given it its next place: its index is still
// that of the records in the file.
bool IsBetweenPlaces(const wire::ChunkHeader* chunk) {
  return __atomic_load_n(&chunk->committed, __ATOMIC_ACQUIRE) == 0 &&
         __atomic_load_n(&chunk->drained, __ATOMIC_RELAXED) == kItsRecords;
}

// Writes a chunk to its place. Its header then tells readers that it was written; the chunk is
// counted only the first time.
bool WriteOutTo(int fd, wire::ChunkHeader* chunk) {
  if (IsBetweenPlaces(chunk)) {
    if (!IsDead(chunk)) {
      return true;
    }
    // The header of a dead thread may still say which spans were open: it gets a place of its own.
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

// Makes the chunk free for other threads. Requires: it was written out.
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

// Writes what is left and finishes the file. Requires: the lock of the file, so that nobody joins
// meanwhile, and that no thread of ours writes.
void Seal(int fd) {
  bool whole = true;
  for (uint32_t i = 0; i < g_header->chunk_count; ++i) {
    wire::ChunkHeader* chunk = ChunkAt(i);
    whole = (!HoldsSomething(chunk) || WriteOutTo(fd, chunk)) && whole;
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

bool NameBeside(const char* out, const char* run, char* name, size_t capacity) {
  const char* base = BaseName(out);
  const char* dot = base;
  for (const char* p = base; *p != 0; ++p) {
    dot = *p == '.' && p != base ? p : dot;
  }
  const size_t stem = dot != base ? static_cast<size_t>(dot - out) : Length(out);
  const int64_t pid = ParseNumber(run);
  const char* dash = Find(run, "-");
  const int64_t seconds = dash != nullptr ? ParseNumber(dash + 1) : -1;
  Text text{name, capacity};
  text.Add(out, stem).Add(".");
  if (pid >= 0 && seconds >= 0) {
    AddDate(text, seconds / 86400);
    text.Add("-");
    TwoDigits(text, seconds % 86400 / 3600);
    TwoDigits(text, seconds % 3600 / 60);
    TwoDigits(text, seconds % 60);
    text.Add("-").Number(static_cast<uint64_t>(pid));
  } else {
    text.Number(wire::HashOf(run, Length(run)));  // a run that somebody else has named
  }
  text.Add(out + stem);
  return !text.cut;
}

wire::FileHeader* AttachLinear(size_t* size) {
  const bool fits = NameBeside(g_config.out, g_config.run, g_beside, sizeof g_beside);
  g_user = sys::Call(SYS_geteuid);
  bool replace = g_config.force;
  // The name may be taken or become free between two looks.
  for (int attempt = 0; attempt < 8; ++attempt) {
    const OutputLook first = LookAtOutput(g_config.out, RunHash());
    const char* path = g_config.out;
    OutputLook look = first;
    if (first.kind != OutputLook::kOfThisRun && fits) {
      look = LookAtOutput(g_beside, RunHash());
      path = g_beside;
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
    } else if (fits) {
      made = Make(g_beside, false, size, &taken);
    }
    if (made != nullptr || !taken) {
      return made;
    }
  }
  return nullptr;
}

bool TakePlace(uint32_t* index) {
  for (;;) {
    uint32_t next = __atomic_load_n(&g_header->next_chunk, __ATOMIC_RELAXED);
    uint32_t have = __atomic_load_n(&g_header->allocated_chunks, __ATOMIC_ACQUIRE);
    if (next < have) {
      if (__atomic_compare_exchange_n(&g_header->next_chunk, &next, next + 1, false,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        *index = next;
        return true;
      }
      continue;
    }
    // Two threads may reserve the same range, which does no harm.
    uint32_t want = have + kGrowChunks - have % kGrowChunks;
    want = want <= g_header->max_chunks ? want : static_cast<uint32_t>(g_header->max_chunks);
    if (want <= have) {
      return false;
    }
    const int fd = OpenOrRelocate();
    if (fd < 0) {
      return false;
    }
    bool ok = ReserveChunks(fd, have, want);
    if (!ok) {  // little room is left: take one chunk at a time
      want = have + 1;
      ok = ReserveChunks(fd, have, want);
    }
    CloseOutput(fd);
    if (!ok) {
      return false;
    }
    __atomic_compare_exchange_n(&g_header->allocated_chunks, &have, want, false, __ATOMIC_RELEASE,
                                __ATOMIC_RELAXED);
  }
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

void RetireChunk(wire::ChunkHeader* chunk) {
  __atomic_store_n(&chunk->state, kSweeping, __ATOMIC_RELEASE);
  if (WriteOut(chunk)) {
    FreeChunk(chunk);
  } else {
    __atomic_store_n(&chunk->state, uint32_t{wire::kChunkFull}, __ATOMIC_RELEASE);
  }
}

void ReclaimDeadChunks() {
  for (uint32_t i = 0; i < g_header->chunk_count; ++i) {
    wire::ChunkHeader* chunk = ChunkAt(i);
    if (chunk == nullptr) {
      continue;
    }
    uint32_t state = __atomic_load_n(&chunk->state, __ATOMIC_ACQUIRE);
    const bool given_up = state == wire::kChunkFull;
    const bool holds = HoldsSomething(chunk);
    const bool dead = holds ? given_up || IsDead(chunk) : ClaimerIsDead(chunk, state);
    // `state` of an owned chunk names its claimer, so the exchange fails if another process has
    // taken the chunk meanwhile.
    if (dead && state != kSweeping &&
        __atomic_compare_exchange_n(&chunk->state, &state, kSweeping, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED)) {
      if (holds || HoldsSomething(chunk)) {
        RetireChunk(chunk);
      } else {
        FreeChunk(chunk);
      }
    }
  }
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
        if (HoldsSomething(chunk) && chunk->process == g_slot_index) {
          WriteOutTo(fd, chunk);
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
