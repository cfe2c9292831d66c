// SPDX-License-Identifier: Apache-2.0
#include "agent/core/pending_reads.h"

#include <errno.h>

#include "agent/core/blocked.h"
#include "agent/core/chunk_writer.h"
#include "agent/core/process.h"
#include "agent/core/thread_state.h"

namespace penstock::agent {
namespace {

// After a pause this long between two reads of a socket, a new object begins.
constexpr uint64_t kNetworkGapNs = 20000000;
// A pending read of this many bytes is written out even if the sample has not changed (long
// sequential reads).
constexpr uint64_t kFlushBytes = 64u << 20;
constexpr uint32_t kNoPending = wire::kPendingReads;

PENSTOCK_NAME(g_file_name, "file");
PENSTOCK_NAME(g_socket_name, "socket");

uint64_t TicksOf(uint64_t ns) {
  return ns * (g_header->ticks_per_second / 1000000u) / 1000u;
}

// A reader in another process that sees a store made after this call also sees all stores made
// before it. For a dead thread the order of its instructions would be enough: a signal ends a
// thread between two instructions, and a reader that sees that the thread is gone sees all its
// stores. But a reader may also look while the thread runs (at the end of a recording, or in
// `penstock recover`). x86 keeps the order of stores and needs no instruction for this; aarch64
// needs one.
inline void InThisOrder() {
  __atomic_thread_fence(__ATOMIC_RELEASE);
}

inline bool IsOf(const ThreadState* s, uint32_t i, int fd, uint32_t serial) {
  return (s->pending >> i & 1) != 0 && s->pending_fd[i] == fd && s->pending_serial[i] == serial;
}

inline uint32_t FindPending(const ThreadState* s, int fd, uint32_t serial) {
  if (__builtin_expect(IsOf(s, s->pending_last, fd, serial), 1)) {
    return s->pending_last;
  }
  for (uint32_t i = 0; s->pending != 0 && i < wire::kPendingReads; ++i) {
    if (IsOf(s, i, fd, serial)) {
      return i;
    }
  }
  return kNoPending;
}

// Makes a record of a pending read. If there is no room for the record, the bytes count as lost.
// traces/FORMAT.md says what a reader finds at each moment.
void WriteOut(const BusyScope& busy, uint32_t i) {
  const bool room = Room(busy, 1);
  ThreadState* s = busy.state();
  wire::ChunkHeader* chunk = s->chunk;  // Room() may have moved the reads to a new chunk
  wire::PendingRead& read = chunk->pending[i];
  const bool network = (read.flags & wire::kFlagNetwork) != 0;
  __atomic_store_n(&chunk->closing, wire::Closing(i, room ? s->used : wire::kClosingLost),
                   __ATOMIC_RELEASE);
  InThisOrder();
  if (room) {
    Context context;
    context.sample = read.sample;
    context.batch = read.batch;
    context.generation = read.generation;
    Put(busy, context,
        {.kind = wire::kKindSpan,
         .stage = wire::kRead,
         .flags = static_cast<uint8_t>(read.flags | wire::kFlagBusy),
         .depth = s->depth,
         .name = network ? g_socket_name.id : g_file_name.id,
         .start = read.first,
         .duration = read.last - read.first,
         .work = read.busy,
         .bytes = read.bytes,
         .object = read.object});
  } else {
    Drop(busy, 1);
    MoveToLost(network, read.bytes);
  }
  InThisOrder();
  __atomic_store_n(&read.bytes, uint64_t{0}, __ATOMIC_RELEASE);
  __atomic_store_n(&chunk->closing, uint64_t{0}, __ATOMIC_RELEASE);
  s->pending &= ~(1u << i);
}

// Returns a free entry. If there is none, writes out the read that was continued least recently.
uint32_t FreePending(const BusyScope& busy) {
  const ThreadState* s = busy.state();
  uint32_t oldest = 0;
  for (uint32_t i = 0; i < wire::kPendingReads; ++i) {
    if ((s->pending >> i & 1) == 0) {
      return i;
    }
    if (s->chunk->pending[i].last < s->chunk->pending[oldest].last) {
      oldest = i;
    }
  }
  WriteOut(busy, oldest);
  return oldest;
}

inline bool Continues(const ThreadState* s, const wire::PendingRead& read, uint64_t start) {
  return read.sample == s->context.sample && read.batch == s->context.batch &&
         read.generation == s->context.generation && read.bytes < kFlushBytes &&
         ((read.flags & wire::kFlagNetwork) == 0 || start <= read.last ||
          start - read.last <= TicksOf(kNetworkGapNs));
}

// Begins a pending read of 0 bytes. Readers ignore it until its bytes are counted.
void OpenPending(ThreadState* s, uint32_t i, const Descriptor& from, uint64_t start) {
  wire::PendingRead& read = s->chunk->pending[i];
  read.object = from.object;
  read.first = start;
  read.busy = 0;
  // The time to open the file counts into its first read, unless that read came a second later or
  // more.
  uint64_t open_busy = 0;
  if (const uint64_t opened = TakeOpened(from.fd, &open_busy);
      opened != 0 && start - opened < TicksOf(1000000000u)) {
    read.first = opened;
    read.busy = open_busy;
    s->probe.reads += open_busy;
  }
  read.sample = s->context.sample;
  read.batch = s->context.batch;
  read.generation = s->context.generation;
  read.flags = from.kind == FdKind::kNetwork ? wire::kFlagNetwork : uint8_t{0};
  read.depth = static_cast<uint8_t>(s->depth);
  s->pending_fd[i] = from.fd;
  s->pending_serial[i] = from.serial;
  s->pending |= 1u << i;
}

// Adds a read to the pending read that it continues, or begins a new one. False if neither is
// possible: no span will contain the read.
bool CountPending(ThreadState* s, const Descriptor& from, uint64_t start, uint64_t end,
                  uint64_t bytes) {
  BusyScope busy(s);
  if (!busy) {
    return false;
  }
  if (s->chunk == nullptr && !Room(busy, 1)) {
    Drop(busy, 1);
    return false;
  }
  uint32_t i = FindPending(s, from.fd, from.serial);
  if (i != kNoPending && !Continues(s, s->chunk->pending[i], start)) {
    WriteOut(busy, i);
    i = kNoPending;
  }
  if (i == kNoPending) {
    i = FreePending(busy);
    OpenPending(s, i, from, start);
  }
  s->pending_last = i;
  wire::ChunkHeader* chunk = s->chunk;
  wire::PendingRead& read = chunk->pending[i];
  __atomic_store_n(&chunk->counting, bytes, __ATOMIC_RELAXED);
  InThisOrder();
  AddRead(from.kind == FdKind::kNetwork, bytes);
  InThisOrder();
  read.last = end;
  read.busy += end - start;
  s->probe.reads += end - start;
  __atomic_store_n(&read.bytes, read.bytes + bytes, __ATOMIC_RELEASE);
  __atomic_store_n(&chunk->counting, uint64_t{0}, __ATOMIC_RELEASE);
  return true;
}

}  // namespace

void CountRead(const Descriptor& from, uint64_t start, uint64_t end, uint64_t bytes) {
  const bool network = from.kind == FdKind::kNetwork;
  ThreadState* s = Self();
  // Another thread may have attached the process during the read, or Self() just now. Attaching may
  // change the clock, so `start` may be a time of the old one.
  const bool same_clock = !g_tsc || (start >= g_attached_at && start <= end);
  if (s == nullptr || !same_clock || !CountPending(s, from, start, end, bytes)) {
    AddLost(network, bytes);
    if (g_without_slot && IsFirstLoss(from.fd)) {
      CountDropped(1);  // the span that all reads of this file would have become
    }
  }
}

bool HasPending(int fd, uint32_t serial) {
  const ThreadState* s = Attached();
  return s != nullptr && FindPending(s, fd, serial) != kNoPending;
}

void FlushReadsOf(int fd, uint32_t serial) {
  ThreadState* s = Attached();
  if (s == nullptr || s->busy != 0) {
    return;  // a signal handler interrupted the core: the reads are written later
  }
  const uint32_t i = FindPending(s, fd, serial);
  if (i != kNoPending) {
    BusyScope busy(s);
    if (busy) {
      WriteOut(busy, i);
    }
  }
}

void FlushReads(ThreadState* s) {
  BusyScope busy(s);
  for (uint32_t i = 0; busy && s->pending != 0 && i < wire::kPendingReads; ++i) {
    if ((s->pending >> i & 1) != 0) {
      WriteOut(busy, i);
    }
  }
}

ReadCall::ReadCall(int fd) : on_(Recording()) {
  if (!on_) {
    return;
  }
  from_ = Identify(fd);
  traced_ = from_.kind == FdKind::kDataset || from_.kind == FdKind::kNetwork;
  if (from_.kind == FdKind::kPipe) {
    start_ = WatchesBlocks() ? Now() : 0;
    return;
  }
  program_writes_ = ProgramWrites(wire::kRead);
  if (traced_ && !program_writes_) {
    // The span is open while the call runs. If the process is killed in the call, the recording
    // shows what it waited for.
    NameTag* name = from_.kind == FdKind::kNetwork ? &g_socket_name : &g_file_name;
    token_ = Begin(wire::kRead, Name(name), __builtin_frame_address(0), false);
    start_ = Now();
  }
}

void ReadCall::Count(int64_t bytes) {
  const uint64_t end = program_writes_ ? 0 : Now();
  Cancel(token_);
  if (bytes <= 0) {
    return;
  }
  if (program_writes_) {
    AddClaimed(from_.kind == FdKind::kNetwork, static_cast<uint64_t>(bytes));
  } else {
    CountRead(from_, start_, end, static_cast<uint64_t>(bytes));
  }
}

void ReadCall::Done(int64_t bytes) {
  if (!on_) {
    return;
  }
  const int saved = errno;
  if (bytes > 0 && from_.fd >= 0) {  // no system call reads a stream in memory
    AddHooked(static_cast<uint64_t>(bytes));
  }
  if (traced_) {
    Count(bytes);
  } else if (start_ != 0) {
    OnBlocked(BlockedOn::kPipe, start_);
  }
  errno = saved;
}

void ReadCall::DoneSocket(int64_t bytes) {
  if (on_ && from_.kind == FdKind::kPipe && start_ != 0) {
    OnBlocked(BlockedOn::kPipe, start_);
  }
  if (!on_ || from_.kind != FdKind::kNetwork) {
    return;
  }
  const int saved = errno;
  Count(bytes);
  errno = saved;
}

}  // namespace penstock::agent
