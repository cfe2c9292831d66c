// SPDX-License-Identifier: Apache-2.0

#include "agent/core/fd_table.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "agent/core/paths.h"
#include "agent/core/pending_reads.h"
#include "agent/core/process.h"
#include "agent/core/staging.h"
#include "agent/system/scratch.h"
#include "agent/system/strings.h"
#include "agent/system/sys.h"

namespace penstock::agent {
namespace {

constexpr int kPageEntries = 64;
constexpr int kPages = 1024;  // 65,536 descriptors; reads of higher numbers are counted, not traced

// Threads may race to open, close and read one number. Each field then has a value that was true at
// some moment, and none is ever half written. But two fields may describe two different files.
struct FdEntry {
  uint32_t kind;    // FdKind
  uint32_t named;   // FdKind by the path given to open(); 0 if the path does not show it
  uint32_t serial;  // grows with each open and close
  uint32_t lost;    // 1: a read of this descriptor was counted as lost
  uint64_t object;
  uint64_t device;  // of the file that `object` names
  uint64_t inode;
  uint64_t opened;  // ticks before open(); 0: not known, or TakeOpened() has returned it
  uint64_t open_busy;
};

FdEntry* g_pages[kPages];

PENSTOCK_NAME(g_map_name, "mmap");

template <class T>
T Load(const T& field) {
  return __atomic_load_n(&field, __ATOMIC_RELAXED);
}
template <class T>
void Store(T* field, T value) {
  __atomic_store_n(field, value, __ATOMIC_RELAXED);
}

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

bool StatOf(int fd, struct stat* st) {
  return sys::Call(SYS_fstat, fd, sys::Pointer(st)) == 0;
}

void NoteFile(FdEntry* e, const struct stat& st) {
  Store(&e->device, uint64_t{st.st_dev});
  Store(&e->inode, uint64_t{st.st_ino});
}

bool IsFile(const FdEntry* e, const struct stat& st) {
  return Load(e->device) == st.st_dev && Load(e->inode) == st.st_ino;
}

// What fstat() says of a descriptor. kFileAsOpened: it is still the file that open() opened by
// path.
enum class FileType { kUnknown, kSocket, kPipe, kFile, kFileAsOpened, kOther };

// Each step of the classification is a function that is not inlined. So its stack is free again
// before the next step, which may attach the process on the small stack of a signal handler.
__attribute__((noinline)) FileType TypeOf(int fd, FdEntry* e) {
  struct stat st;
  if (!StatOf(fd, &st)) {
    return FileType::kUnknown;
  }
  const bool as_opened = Load(e->named) != 0 && IsFile(e, st);
  NoteFile(e, st);
  return S_ISSOCK(st.st_mode)   ? FileType::kSocket
         : S_ISFIFO(st.st_mode) ? FileType::kPipe
         : !S_ISREG(st.st_mode) ? FileType::kOther
         : as_opened            ? FileType::kFileAsOpened
                                : FileType::kFile;
}

__attribute__((noinline)) bool NoteFileOf(int fd, FdEntry* e) {
  struct stat st;
  if (!StatOf(fd, &st)) {
    return false;
  }
  NoteFile(e, st);
  return true;
}

__attribute__((noinline)) bool IsInternet(int fd) {
  struct sockaddr_storage address = {};
  int size = sizeof address;
  return sys::Call(SYS_getsockname, fd, sys::Pointer(&address), sys::Pointer(&size)) == 0 &&
         (address.ss_family == AF_INET || address.ss_family == AF_INET6);
}

FdKind Classify(int fd, FdEntry* e) {
  switch (TypeOf(fd, e)) {
    case FileType::kUnknown:
      return FdKind::kUnknown;
    case FileType::kSocket:
      return IsInternet(fd) ? FdKind::kNetwork : FdKind::kPipe;
    case FileType::kPipe:
      return FdKind::kPipe;
    case FileType::kOther:
      return FdKind::kOther;
    case FileType::kFileAsOpened:
      return static_cast<FdKind>(Load(e->named));
    case FileType::kFile:
      break;
  }
  Store(&e->named, 0u);
  Store(&e->object, uint64_t{0});
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
  Store(&e->object, Intern(path, static_cast<size_t>(n)));
  return FdKind::kDataset;
}

void Forget(FdEntry* e) {
  Store(&e->kind, 0u);
  Store(&e->named, 0u);
  Store(&e->serial, Load(e->serial) + 1);
  Store(&e->lost, 0u);
  Store(&e->object, uint64_t{0});
  Store(&e->opened, uint64_t{0});
}

// True if the number now belongs to another file: no hook saw that it was closed and opened again.
bool HasChanged(int fd, const FdEntry* e) {
  struct stat st;
  return StatOf(fd, &st) && !IsFile(e, st);
}

}  // namespace

Descriptor Identify(int fd) {
  FdEntry* e = EntryOf(fd, true);
  if (e == nullptr) {
    return {fd, 0, FdKind::kOther, 0};
  }
  auto kind = static_cast<FdKind>(Load(e->kind));
  if ((kind == FdKind::kDataset || kind == FdKind::kNetwork) && !HasPending(fd, Load(e->serial)) &&
      HasChanged(fd, e)) {
    Forget(e);
    kind = FdKind::kUnknown;
  }
  if (kind == FdKind::kUnknown) {
    const int saved = errno;
    kind = Classify(fd, e);
    Store(&e->kind, static_cast<uint32_t>(kind));
    errno = saved;
  }
  return {fd, Load(e->serial), kind, Load(e->object)};
}

void OnOpen(int fd, uint64_t start, const char* path, bool may_use_copy) {
  FdEntry* e = EntryOf(fd, start != 0);  // when not recording, only forget what is known
  if (e == nullptr) {
    return;
  }
  Forget(e);
  if (start == 0) {
    return;
  }
  Store(&e->open_busy, Now() - start);
  Store(&e->opened, start);
  // Noting the name now saves the readlink at the first read, which would be its most expensive
  // part.
  if (path == nullptr) {
    return;
  }
  PENSTOCK_SCRATCH(name);
  const size_t size = NameOpened(path, name);
  if (size == 0) {
    return;
  }
  const bool dataset = IsDatasetPath(name, size);
  if (dataset && may_use_copy) {
    UseCopy(fd);
  }
  if (NoteFileOf(fd, e)) {
    Store(&e->object, dataset ? Intern(name, size) : uint64_t{0});
    Store(&e->named, static_cast<uint32_t>(dataset ? FdKind::kDataset : FdKind::kOther));
  }
}

void OnDuplicate(int from, int to) {
  const FdEntry* source = EntryOf(from, false);
  FdEntry* e = EntryOf(to, false);
  if (source == nullptr || e == nullptr || source == e || Load(source->named) == 0) {
    return;
  }
  // The next read compares device and inode, so a race with another thread cannot give `to` a wrong
  // name.
  Store(&e->device, Load(source->device));
  Store(&e->inode, Load(source->inode));
  Store(&e->object, Load(source->object));
  Store(&e->named, Load(source->named));
}

void OnClose(int fd) {
  FdEntry* e = EntryOf(fd, false);
  if (e == nullptr) {
    return;
  }
  const auto kind = static_cast<FdKind>(Load(e->kind));
  if (kind == FdKind::kDataset || kind == FdKind::kNetwork) {
    const int saved = errno;
    FlushReadsOf(fd, Load(e->serial));
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

void LookAgain(int fd) {
  if (FdEntry* e = EntryOf(fd, false); e != nullptr) {
    Store(&e->kind, 0u);
  }
}

void OnMap(const Descriptor& from, uint64_t start, uint64_t end, uint64_t bytes) {
  AddMapped(bytes);
  if (ProgramWrites(wire::kRead)) {
    return;
  }
  Emit({.stage = wire::kRead,
        .flags = wire::kFlagMapped,
        .name = Name(&g_map_name),
        .start = start,
        .duration = end - start,
        .bytes = bytes,
        .object = from.object});
}

uint64_t TakeOpened(int fd, uint64_t* busy) {
  FdEntry* e = EntryOf(fd, false);
  if (e == nullptr || Load(e->opened) == 0) {
    return 0;
  }
  *busy = Load(e->open_busy);
  return __atomic_exchange_n(&e->opened, uint64_t{0}, __ATOMIC_RELAXED);
}

bool IsFirstLoss(int fd) {
  FdEntry* e = EntryOf(fd, false);
  return e == nullptr || __atomic_exchange_n(&e->lost, 1u, __ATOMIC_RELAXED) == 0;
}

}  // namespace penstock::agent
