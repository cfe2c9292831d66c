// SPDX-License-Identifier: Apache-2.0

#include "agent/fd_table.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "agent/paths.h"
#include "agent/process.h"
#include "agent/scratch.h"
#include "agent/strings.h"
#include "agent/sys.h"
#include "agent/thread_state.h"

namespace penstock::agent {
namespace {

constexpr int kPageEntries = 64;
constexpr int kPages = 1024;  // 65,536 descriptors; higher numbers are counted, not traced
// A pause between two reads of one descriptor that starts a new object (network streams).
constexpr uint64_t kNetworkGapNs = 20000000;
// Pending bytes that are written out even if the sample has not changed (long sequential reads).
constexpr uint64_t kFlushBytes = 64u << 20;

struct FdEntry {
  uint32_t kind;   // atomic FdKind
  uint32_t owner;  // atomic: tid whose reads are pending, 0 = none
  uint32_t
      named;  // FdKind by the path that was opened, if it names a file for itself; else kUnknown
  uint64_t object;
  uint64_t token;   // process token of the pending reads: a forked child drops its parent's
  uint64_t opened;  // ticks before open(), 0 = used
  uint64_t open_busy;
  uint64_t first;
  uint64_t last;
  uint64_t busy;
  uint64_t bytes;
  Context context;
};

FdEntry* g_pages[kPages];

PENSTOCK_NAME(g_file_name, "file");
PENSTOCK_NAME(g_map_name, "mmap");
PENSTOCK_NAME(g_socket_name, "socket");

FdEntry* EntryOf(int fd, bool make) {
  if (fd < 0 || fd >= kPageEntries * kPages) {
    return nullptr;
  }
  FdEntry** slot = &g_pages[fd / kPageEntries];
  FdEntry* page = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
  if (page == nullptr && make) {
    constexpr size_t kSize = (sizeof(FdEntry) * kPageEntries + 4095) & ~size_t{4095};
    auto* fresh = static_cast<FdEntry*>(
        sys::Map(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (fresh == nullptr) {
      return nullptr;
    }
    if (__atomic_compare_exchange_n(slot, &page, fresh, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
      page = fresh;
    } else {
      sys::Unmap(fresh, kSize);
    }
  }
  return page != nullptr ? &page[fd % kPageEntries] : nullptr;
}

// Ticks per nanosecond, for the one comparison that needs it.
uint64_t TicksOf(uint64_t ns) {
  return g_header != nullptr ? ns * (g_header->ticks_per_second / 1000000u) / 1000u : ns;
}

FdKind Classify(int fd, FdEntry* e) {
  struct stat st;
  if (sys::Call(SYS_fstat, fd, sys::Pointer(&st)) != 0) {
    return FdKind::kUnknown;
  }
  if (S_ISSOCK(st.st_mode)) {
    struct sockaddr_storage address = {};
    int size = sizeof address;
    const bool known =
        sys::Call(SYS_getsockname, fd, sys::Pointer(&address), sys::Pointer(&size)) == 0;
    return known && (address.ss_family == AF_INET || address.ss_family == AF_INET6)
               ? FdKind::kNetwork
               : FdKind::kOther;
  }
  if (!S_ISREG(st.st_mode)) {
    return FdKind::kOther;
  }
  if (e->named != 0) {
    return static_cast<FdKind>(e->named);
  }
  char link[40];
  Text name{link, sizeof link};
  name.Add("/proc/self/fd/").Number(static_cast<uint64_t>(fd));
  PENSTOCK_SCRATCH(path);
  const long n = sys::Readlink(link, path, kMaxPath - 1);
  if (n <= 0) {
    return FdKind::kOther;
  }
  path[n] = 0;
  if (!IsDatasetPath(path, static_cast<size_t>(n))) {
    return FdKind::kOther;
  }
  e->object = Intern(path, static_cast<size_t>(n));
  return FdKind::kDataset;
}

void WritePending(FdEntry* e, FdKind kind) {
  if (e->bytes == 0 && e->busy == 0) {
    return;
  }
  const bool network = kind == FdKind::kNetwork;
  const auto flags = static_cast<uint8_t>(wire::kFlagBusy | (network ? wire::kFlagNetwork : 0));
  EmitAt(e->context, wire::kRead, Name(network ? &g_socket_name : &g_file_name), e->first,
         e->last - e->first, e->busy, e->bytes, e->object, flags);
  e->bytes = 0;
  e->busy = 0;
}

bool SameContext(const Context& a, const Context& b) {
  return a.sample == b.sample && a.batch == b.batch && a.generation == b.generation;
}

void Forget(FdEntry* e) {
  __atomic_store_n(&e->kind, uint32_t{0}, __ATOMIC_RELAXED);
  __atomic_store_n(&e->owner, 0u, __ATOMIC_RELAXED);
  e->named = 0;
  e->object = 0;
  e->opened = 0;
  e->open_busy = 0;
  e->bytes = 0;
  e->busy = 0;
}

// Makes the calling thread the one whose reads are pending on `e`. False: another thread's are.
bool Own(FdEntry* e, ThreadState* s, uint64_t start) {
  uint32_t owner = __atomic_load_n(&e->owner, __ATOMIC_ACQUIRE);
  if (owner == s->tid && e->token == s->token) {
    return true;
  }
  if (owner != 0 && e->token == s->token) {
    // Another thread of this process. Its reads stay pending for a while; then it has moved on.
    if (start - e->last < TicksOf(1000000000u)) {
      return false;
    }
    WritePending(e, static_cast<FdKind>(e->kind));
  }
  if (!__atomic_compare_exchange_n(&e->owner, &owner, s->tid, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_ACQUIRE)) {
    return false;
  }
  e->token = s->token;
  e->bytes = 0;
  e->busy = 0;
  return true;
}

void NoteDirty(ThreadState* s, int fd) {
  for (uint32_t i = 0; i < s->dirty_count; ++i) {
    if (s->dirty[i] == fd) {
      return;
    }
  }
  if (s->dirty_count < kDirtyFiles) {
    s->dirty[s->dirty_count++] = fd;
  }
}

}  // namespace

FdKind KindOf(int fd) {
  FdEntry* e = EntryOf(fd, true);
  if (e == nullptr) {
    return FdKind::kOther;
  }
  auto kind = static_cast<FdKind>(__atomic_load_n(&e->kind, __ATOMIC_RELAXED));
  if (kind == FdKind::kUnknown) {
    const int saved = errno;
    kind = Classify(fd, e);
    __atomic_store_n(&e->kind, static_cast<uint32_t>(kind), __ATOMIC_RELAXED);
    errno = saved;
  }
  return kind;
}

uint64_t ObjectOf(int fd) {
  const FdEntry* e = EntryOf(fd, false);
  return e != nullptr ? e->object : 0;
}

void OnOpen(int fd, uint64_t start, const char* path) {
  FdEntry* e = EntryOf(fd, start != 0);  // not recording: only what is known must be forgotten
  if (e == nullptr) {
    return;
  }
  Forget(e);
  e->opened = start;
  e->open_busy = start != 0 ? Now() - start : 0;
  // A name saves the readlink at the first read, the dearest part of it.
  if (start == 0 || path == nullptr) {
    return;
  }
  PENSTOCK_SCRATCH(name);
  if (const size_t size = NameOpened(path, name); size != 0) {
    const bool dataset = IsDatasetPath(name, size);
    e->object = dataset ? Intern(name, size) : 0;
    e->named = static_cast<uint32_t>(dataset ? FdKind::kDataset : FdKind::kOther);
  }
}

void OnClose(int fd) {
  FdEntry* e = EntryOf(fd, false);
  if (e == nullptr || __atomic_load_n(&e->kind, __ATOMIC_RELAXED) == 0) {
    return;
  }
  if (e->bytes != 0 && e->token == 0 && g_without_slot) {
    CountDropped(1);
  } else if (e->bytes != 0 && e->token == *g_guard) {
    const int saved = errno;
    WritePending(e, static_cast<FdKind>(e->kind));
    errno = saved;
  }
  Forget(e);
}

void OnCloseRange(unsigned first, unsigned last) {
  constexpr unsigned kLast = kPageEntries * kPages - 1;
  for (unsigned page = first / kPageEntries; page <= (last < kLast ? last : kLast) / kPageEntries;
       ++page) {
    if (__atomic_load_n(&g_pages[page], __ATOMIC_ACQUIRE) == nullptr) {
      continue;
    }
    for (unsigned fd = page * kPageEntries; fd < (page + 1) * kPageEntries; ++fd) {
      if (fd >= first && fd <= last) {
        OnClose(static_cast<int>(fd));
      }
    }
  }
}

void OnRead(int fd, FdKind kind, uint64_t start, uint64_t end, uint64_t bytes) {
  ThreadState* s = Self();
  FdEntry* e = EntryOf(fd, false);
  if (s == nullptr && e != nullptr && g_without_slot) {
    e->bytes = bytes + (e->token == 0 ? e->bytes : 0);  // one record the less when it is closed
    e->token = 0;
  }
  if (s == nullptr || e == nullptr) {
    return;
  }
  if (!Own(e, s, start)) {
    const bool network = kind == FdKind::kNetwork;
    Emit(wire::kRead, Name(network ? &g_socket_name : &g_file_name), start, end - start, 0, bytes,
         e->object, network ? wire::kFlagNetwork : uint8_t{0});
    return;
  }
  const bool pending = e->bytes != 0;
  if (pending && (!SameContext(e->context, s->context) || e->bytes >= kFlushBytes ||
                  (kind == FdKind::kNetwork && start - e->last > TicksOf(kNetworkGapNs)))) {
    WritePending(e, kind);
  }
  if (e->bytes == 0) {
    e->context = s->context;
    e->first = start;
    e->busy = 0;
    if (e->opened != 0 && start - e->opened < TicksOf(1000000000u)) {
      e->first = e->opened;
      e->busy = e->open_busy;
    }
    e->opened = 0;
    NoteDirty(s, fd);
  }
  e->last = end;
  e->busy += end - start;
  e->bytes += bytes;
}

void OnMap(int fd, uint64_t start, uint64_t end, uint64_t bytes) {
  AddMapped(bytes);
  if (ProgramWrites(wire::kRead)) {
    return;
  }
  Emit(wire::kRead, Name(&g_map_name), start, end - start, 0, bytes, ObjectOf(fd),
       wire::kFlagMapped);
}

void FlushDirtyFiles(ThreadState* s) {
  const uint32_t count = s->dirty_count;
  s->dirty_count = 0;
  for (uint32_t i = 0; i < count; ++i) {
    FdEntry* e = EntryOf(s->dirty[i], false);
    if (e != nullptr && e->owner == s->tid && e->token == s->token && e->bytes != 0) {
      WritePending(e, static_cast<FdKind>(e->kind));
    }
  }
}

ReadCall::ReadCall(int fd) : fd_(fd), on_(Recording()) {
  if (!on_) {
    return;
  }
  kind_ = KindOf(fd);
  spoken_for_ = ProgramWrites(wire::kRead);
  if (!spoken_for_ && (kind_ == FdKind::kDataset || kind_ == FdKind::kNetwork)) {
    // Open while the call runs: a process killed inside it shows what it was waiting for.
    token_ = Begin(wire::kRead, g_file_name.id, __builtin_frame_address(0), false);
    start_ = Now();
  }
}

void ReadCall::Done(int64_t bytes) {
  if (!on_) {
    return;
  }
  const int saved = errno;
  if (bytes > 0) {
    AddHooked(static_cast<uint64_t>(bytes));
  }
  if (kind_ == FdKind::kDataset || kind_ == FdKind::kNetwork) {
    const uint64_t end = spoken_for_ ? 0 : Now();
    Cancel(token_);
    if (bytes > 0) {
      const auto size = static_cast<uint64_t>(bytes);
      kind_ == FdKind::kDataset ? AddDataset(size) : AddNetwork(size);
      if (!spoken_for_) {
        OnRead(fd_, kind_, start_, end, size);
      }
    }
  }
  errno = saved;
}

void ReadCall::DoneSocket(int64_t bytes) {
  if (!on_ || kind_ != FdKind::kNetwork) {
    return;
  }
  const int saved = errno;
  const uint64_t end = Now();
  Cancel(token_);
  if (bytes > 0) {
    AddNetwork(static_cast<uint64_t>(bytes));
    if (!spoken_for_) {
      OnRead(fd_, kind_, start_, end, static_cast<uint64_t>(bytes));
    }
  }
  errno = saved;
}

}  // namespace penstock::agent
