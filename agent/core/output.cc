// SPDX-License-Identifier: Apache-2.0

#include "agent/core/output.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include <new>

#include "agent/system/scratch.h"
#include "agent/system/strings.h"
#include "agent/system/sys.h"

namespace penstock::agent {
namespace {

constexpr int kOpenFlags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
constexpr long kNoEntry = -2;        // ENOENT
constexpr long kInterrupted = -4;    // EINTR
constexpr long kExists = -17;        // EEXIST
constexpr long kUnknownCall = -38;   // ENOSYS
constexpr long kNotSupported = -95;  // EOPNOTSUPP
constexpr char kPackedMagic[8] = {'P', 'E', 'N', 'S', 'T', 'P', 'A', 'K'};

// Path and identity of the output file. There is a second Place if the first file was lost.
struct Place {
  char path[4224];
  uint64_t device;
  uint64_t inode;
  uint64_t run;
};
Place g_places[2] = {};
uint32_t g_known = 0;  // atomic, release: how many of g_places are filled in; the last one counts

// Holds a name that CreateOutput() builds, since a signal handler's stack is too small for it. One
// thread uses it at a time: either the thread that attaches, under its lock, or the thread that
// moves the run to another file (OpenOrRelocate()).
char g_name[4400] = {};

uint64_t FileOffset(uint32_t chunk) {
  return wire::kHeaderSize + uint64_t{chunk} * wire::kChunkSize;
}

// Whether `fd` is a regular file of this user. Fills in `st`.
bool IsOwnFile(int fd, struct stat* st) {
  return sys::Call(SYS_fstat, fd, sys::Pointer(st)) == 0 && S_ISREG(st->st_mode) &&
         st->st_uid == static_cast<uint32_t>(sys::Call(SYS_geteuid));
}

// Writing past RLIMIT_FSIZE would raise SIGXFSZ in the traced program.
bool WithinSizeLimit(uint64_t size) {
  struct rlimit limit;
  if (sys::Call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, sys::Pointer(&limit)) != 0) {
    return false;
  }
  return limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur;
}

bool WriteAll(int fd, const void* from, size_t size, uint64_t offset) {
  if (!WithinSizeLimit(offset + size)) {
    return false;
  }
  const auto* at = static_cast<const char*>(from);
  while (size > 0) {
    const long wrote = sys::Pwrite(fd, at, size, offset);
    if (wrote == kInterrupted) {
      continue;
    }
    if (wrote <= 0) {
      return false;
    }
    at += wrote;
    offset += static_cast<uint64_t>(wrote);
    size -= static_cast<size_t>(wrote);
  }
  return true;
}

bool ReadAll(int fd, void* to, size_t size, uint64_t offset) {
  return sys::Call(SYS_pread64, fd, sys::Pointer(to), static_cast<long>(size),
                   static_cast<long>(offset)) == static_cast<long>(size);
}

bool BeginsAsTrace(int fd) {
  char magic[8] = {};
  return ReadAll(fd, magic, sizeof magic, 0) &&
         (__builtin_memcmp(magic, wire::kMagic, sizeof magic) == 0 ||
          __builtin_memcmp(magic, kPackedMagic, sizeof magic) == 0);
}

bool IsOfRun(int fd, uint64_t run) {
  char magic[8] = {};
  uint32_t mode = wire::kRing;
  uint64_t uuid = 0;
  return ReadAll(fd, magic, sizeof magic, 0) &&
         __builtin_memcmp(magic, wire::kMagic, sizeof magic) == 0 &&
         ReadAll(fd, &mode, sizeof mode, offsetof(wire::FileHeader, mode)) &&
         mode == wire::kLinear &&
         ReadAll(fd, &uuid, sizeof uuid, offsetof(wire::FileHeader, uuid)) && uuid == run;
}

// True if `path` is a trace of this user: only such a file may be replaced on request.
__attribute__((noinline)) bool MayBeReplaced(const char* path) {
  const int fd = sys::Open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) {
    return false;
  }
  struct stat st;
  const bool may = IsOwnFile(fd, &st) && BeginsAsTrace(fd);
  sys::Close(fd);
  return may;
}

// Gives the file `from` the name `to`.
long Publish(const char* from, const char* to, bool replace, int link_flags) {
  if (!replace) {
    const long linked =
        sys::Call(SYS_linkat, AT_FDCWD, sys::Pointer(from), AT_FDCWD, sys::Pointer(to), link_flags);
    if (linked == 0 || linked == kExists || link_flags != 0) {
      return linked;
    }
    // For file systems without hard links.
    return sys::Call(SYS_renameat2, AT_FDCWD, sys::Pointer(from), AT_FDCWD, sys::Pointer(to),
                     1 /* RENAME_NOREPLACE */);
  }
  return sys::Call(SYS_renameat2, AT_FDCWD, sys::Pointer(from), AT_FDCWD, sys::Pointer(to), 0);
}

// Writes the header to a file without a name, then links the file to `path`. If the process is
// killed in between, no file is left.
__attribute__((noinline)) long CreateNameless(const char* path, const wire::FileHeader* header) {
  Text folder{g_name, sizeof g_name};
  folder.Add(path, static_cast<size_t>(BaseName(path) - path));
  const int fd = sys::Open(g_name, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
  if (fd < 0) {
    return fd;
  }
  char link[40];
  Text name{link, sizeof link};
  name.Add("/proc/self/fd/").Number(static_cast<uint64_t>(fd));
  long made = WriteAll(fd, header, wire::kHeaderSize, 0) ? 0 : -28 /* ENOSPC */;
  if (made == 0) {
    made = Publish(link, path, false, AT_SYMLINK_FOLLOW);
    if (made == 0) {
      RememberOutput(path, header->uuid[0], fd);
    }
  }
  sys::Close(fd);
  return made;
}

}  // namespace

OutputLook LookAtOutput(const char* path, uint64_t run) {
  OutputLook look = {OutputLook::kOther, -1, -1, false};
  const int fd = sys::Open(path, kOpenFlags);
  if (fd < 0) {
    look.kind = fd == kNoEntry ? OutputLook::kAbsent : OutputLook::kOther;
    return look;
  }
  struct stat st;
  uint32_t sealed = 0;
  uint32_t segment = 0;
  const bool ours = IsOwnFile(fd, &st) && IsOfRun(fd, run) &&
                    ReadAll(fd, &sealed, sizeof sealed, offsetof(wire::FileHeader, sealed)) &&
                    ReadAll(fd, &segment, sizeof segment, offsetof(wire::FileHeader, segment));
  if (!ours) {
    sys::Close(fd);
    return look;
  }
  return {OutputLook::kOfThisRun, fd, static_cast<int>(segment) - 1, sealed != 0};
}

long CreateOutput(const char* path, const wire::FileHeader* header, bool replace) {
  if (replace && !MayBeReplaced(path)) {
    return kExists;
  }
  const long nameless = replace ? kNotSupported : CreateNameless(path, header);
  if (nameless == 0 || nameless == kExists) {
    return nameless;
  }
  Text name{g_name, sizeof g_name};
  // A killed process with the same pid may have left a file, so uuid[1] is part of the name. The
  // two numbers form one, with no dot between them: traces::RemoveAbandoned() finds only names of
  // this form.
  name.Add(path).Add(".").Number(sys::Pid()).Number(header->uuid[1]).Add(".tmp");
  if (name.cut) {
    return -36;  // ENAMETOOLONG
  }
  const int fd = sys::Open(g_name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) {
    return fd;
  }
  long made = WriteAll(fd, header, wire::kHeaderSize, 0) ? Publish(g_name, path, replace, 0)
                                                         : -28 /* ENOSPC */;
  if (made == 0) {
    RememberOutput(path, header->uuid[0], fd);
  }
  sys::Close(fd);
  sys::Call(SYS_unlinkat, AT_FDCWD, sys::Pointer(g_name), 0);
  return made;
}

void RememberOutput(const char* path, uint64_t run, int fd) {
  const uint32_t known = __atomic_load_n(&g_known, __ATOMIC_ACQUIRE);
  PENSTOCK_SCRATCH(memory);
  struct stat& st = *new (memory) struct stat;
  if (known == 2 || sys::Call(SYS_fstat, fd, sys::Pointer(&st)) != 0) {
    return;
  }
  Place& place = g_places[known];
  place.device = st.st_dev;
  place.inode = st.st_ino;
  place.run = run;
  Text copy{place.path, sizeof place.path};
  copy.Add(path);
  __atomic_store_n(&g_known, known + 1, __ATOMIC_RELEASE);
}

int OpenOutput() {
  const uint32_t known = __atomic_load_n(&g_known, __ATOMIC_ACQUIRE);
  if (known == 0) {
    return -1;
  }
  const Place& place = g_places[known - 1];
  const int fd = sys::Open(place.path, kOpenFlags);
  // File systems soon reuse the number of an inode, so the run is checked too.
  struct stat st;
  if (fd >= 0 && (!IsOwnFile(fd, &st) || st.st_dev != place.device || st.st_ino != place.inode ||
                  !IsOfRun(fd, place.run))) {
    sys::Close(fd);
    return -1;
  }
  return fd;
}

void CloseOutput(int fd) {
  sys::Close(fd);
}

bool LockOutput(int fd) {
  constexpr int kPatience = 2000;  // 100 us each
  for (int i = 0; i < kPatience; ++i) {
    const long locked = sys::Call(SYS_flock, fd, LOCK_EX | LOCK_NB);
    if (locked != -11 /* EWOULDBLOCK */) {
      return true;  // locked; or the file system has no locks: go on without one
    }
    struct timespec pause = {0, 100000};
    sys::Call(SYS_nanosleep, sys::Pointer(&pause), 0);
  }
  return false;
}

// Closing the descriptor is not enough: a child that was forked meanwhile has a copy of the
// descriptor, and the copy keeps the lock.
void UnlockOutput(int fd) {
  sys::Call(SYS_flock, fd, LOCK_UN);
}

bool ReserveChunks(int fd, uint32_t from, uint32_t to) {
  const uint64_t begin = FileOffset(from);
  const uint64_t end = FileOffset(to);
  if (!WithinSizeLimit(end)) {
    return false;
  }
  long done = kInterrupted;
  for (int tries = 0; tries < 16 && done == kInterrupted; ++tries) {  // timers interrupt it
    done =
        sys::Call(SYS_fallocate, fd, 0, static_cast<long>(begin), static_cast<long>(end - begin));
  }
  if (done != kNotSupported && done != kUnknownCall && done != kInterrupted) {
    return done == 0;
  }
  // Without fallocate() the file only gets longer. If the disk is full, WriteChunk() fails later,
  // and the chunk stays in memory.
  struct stat st;
  const bool locked = LockOutput(fd);
  const bool grown = locked && sys::Call(SYS_fstat, fd, sys::Pointer(&st)) == 0 &&
                     (static_cast<uint64_t>(st.st_size) >= end ||
                      sys::Call(SYS_ftruncate, fd, static_cast<long>(end)) == 0);
  if (locked) {
    UnlockOutput(fd);
  }
  return grown;
}

bool WriteChunk(int fd, const wire::ChunkHeader* chunk) {
  return WriteAll(fd, chunk, wire::kChunkSize, FileOffset(chunk->index));
}

bool WriteHeader(int fd, const wire::FileHeader* header) {
  uint32_t slots = 0;
  while (slots < wire::kMaxProcesses &&
         __atomic_load_n(&header->processes[slots].state, __ATOMIC_RELAXED) != wire::kProcessFree) {
    ++slots;
  }
  return WriteAll(fd, header,
                  offsetof(wire::FileHeader, processes) + slots * sizeof(wire::ProcessSlot), 0);
}

bool ReadHeader(int fd, wire::FileHeader* header) {
  return ReadAll(fd, header, sizeof *header, 0);
}

void TrimOutput(int fd, uint32_t chunks) {
  sys::Call(SYS_ftruncate, fd, static_cast<long>(FileOffset(chunks)));
}

}  // namespace penstock::agent
