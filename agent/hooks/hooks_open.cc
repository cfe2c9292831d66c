// SPDX-License-Identifier: Apache-2.0
//
// Opening and closing of descriptors: open and its aliases, dup, fcntl, close. These hooks keep the
// descriptor table up to date. A close also writes the pending reads of the descriptor, and counts
// the bytes that a stream has read ahead. A descriptor is classified at its first read.

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>

#include "agent/core/fd_table.h"
#include "agent/core/process.h"
#include "agent/core/staging.h"
#include "agent/hooks/hook.h"
#include "agent/hooks/stream.h"
#include "agent/system/descriptors.h"
#include "agent/system/isolated_python.h"
#include "agent/system/sys.h"

namespace penstock::agent {
namespace {

// Remembers when an open began, and tells the descriptor table if it succeeded.
class OpenCall {
 public:
  // `may_use_copy`: the call opens a file only for reading.
  explicit OpenCall(const char* path = nullptr, int dir = AT_FDCWD, bool may_use_copy = false)
      : start_(Recording() ? Now() : 0), path_(path), dir_(dir), may_use_copy_(may_use_copy) {
    PollIsolatedPython();
  }
  int Done(int fd) const {
    if (fd >= 0) {
      const int saved = errno;
      NoteOpened(fd);
      // A path that is relative to an open directory does not give an absolute name. Reading
      // `path_` is safe, since the kernel has read it already.
      const bool tells_name = path_ != nullptr && (dir_ == AT_FDCWD || path_[0] == '/');
      OnOpen(fd, start_, tells_name ? path_ : nullptr, may_use_copy_);
      errno = saved;
    }
    return fd;
  }
  FILE* Done(FILE* file) const {
    if (file != nullptr) {
      Done(DescriptorOf(file));
    }
    return file;
  }
  // Makes the program's call. If the call fails because no descriptor is left, while the agent may
  // hold one, tries again: the agent must not use up the program's limit. If the agent does not
  // record, the call is made once.
  template <class Real>
  auto Run(Real real) const {
    uint32_t released = __atomic_load_n(&sys::g_released, __ATOMIC_ACQUIRE);
    auto result = real();
    for (int i = 0; i < kTries && Failed(result) && errno == EMFILE && AgentMayHold(&released);
         ++i) {
      for (int k = 0; k < kRest; ++k) {
        sys::Pause();
      }
      result = real();
    }
    return Done(result);
  }

 private:
  static constexpr int kTries = 100;
  static constexpr int kRest = 1000;  // pauses between two tries, some 40 us together

  // Whether the agent holds a descriptor, or has given one back since `*released` was read.
  bool AgentMayHold(uint32_t* released) const {
    if (start_ == 0) {
      return false;
    }
    const int held = __atomic_load_n(&sys::g_descriptors, __ATOMIC_ACQUIRE);
    const uint32_t now = __atomic_load_n(&sys::g_released, __ATOMIC_ACQUIRE);
    const bool moved = now != *released;
    *released = now;
    return held > 0 || moved;
  }

  static bool Failed(int fd) { return fd < 0; }
  static bool Failed(const FILE* file) { return file == nullptr; }

  uint64_t start_;
  const char* path_;
  int dir_;
  bool may_use_copy_;
};

// Counts the bytes that a stream has read ahead and its user has not taken. They belong to no
// sample, but the kernel counts them as read. `fd`: -1 for a stream in memory, whose bytes the
// kernel does not count.
void CountReadAhead(const FILE* file, int fd) {
  if (fd >= 0 && Recording() && file->_IO_read_end > file->_IO_read_ptr &&
      file->_IO_write_ptr <= file->_IO_write_base) {
    AddHooked(static_cast<uint64_t>(file->_IO_read_end - file->_IO_read_ptr));
  }
}

bool NeedsMode(int flags) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

// The path; nullptr if the call makes a file without a name.
const char* NamedBy(const char* path, int flags) {
  return (flags & O_TMPFILE) == O_TMPFILE ? nullptr : path;
}

using FnOpen2 = int(const char*, int);
using FnOpenat2 = int(int, const char*, int);

}  // namespace
}  // namespace penstock::agent

using penstock::agent::CloseScope;
using penstock::agent::CountReadAhead;
using penstock::agent::DescriptorOf;
using penstock::agent::LookAgain;
using penstock::agent::MayUseCopy;
using penstock::agent::NamedBy;
using penstock::agent::NeedsMode;
using penstock::agent::NoteClosed;
using penstock::agent::OnClose;
using penstock::agent::OnCloseRange;
using penstock::agent::OnDuplicate;
using penstock::agent::OpenCall;

#define PENSTOCK_MODE_ARGUMENT(mode, flags) \
  mode_t mode = 0;                          \
  if (NeedsMode(flags)) {                   \
    va_list list;                           \
    va_start(list, flags);                  \
    mode = va_arg(list, mode_t);            \
    va_end(list);                           \
  }

PENSTOCK_EXPORT int open(const char* path, int flags, ...) {
  PENSTOCK_MODE_ARGUMENT(mode, flags)
  OpenCall call(NamedBy(path, flags), AT_FDCWD, MayUseCopy(flags));
  return call.Run([&] { return PENSTOCK_REAL(open)(path, flags, mode); });
}

PENSTOCK_EXPORT int open64(const char* path, int flags, ...) {
  PENSTOCK_MODE_ARGUMENT(mode, flags)
  OpenCall call(NamedBy(path, flags), AT_FDCWD, MayUseCopy(flags));
  return call.Run([&] { return PENSTOCK_REAL(open64)(path, flags, mode); });
}

PENSTOCK_EXPORT int openat(int dir, const char* path, int flags, ...) {
  PENSTOCK_MODE_ARGUMENT(mode, flags)
  OpenCall call(NamedBy(path, flags), dir, MayUseCopy(flags));
  return call.Run([&] { return PENSTOCK_REAL(openat)(dir, path, flags, mode); });
}

PENSTOCK_EXPORT int openat64(int dir, const char* path, int flags, ...) {
  PENSTOCK_MODE_ARGUMENT(mode, flags)
  OpenCall call(NamedBy(path, flags), dir, MayUseCopy(flags));
  return call.Run([&] { return PENSTOCK_REAL(openat64)(dir, path, flags, mode); });
}

PENSTOCK_EXPORT int __open_2(const char* path, int flags) {
  OpenCall call(NamedBy(path, flags), AT_FDCWD, MayUseCopy(flags));
  return call.Run(
      [&] { return PENSTOCK_REAL_AS(__open_2, penstock::agent::FnOpen2)(path, flags); });
}

PENSTOCK_EXPORT int __open64_2(const char* path, int flags) {
  OpenCall call(NamedBy(path, flags), AT_FDCWD, MayUseCopy(flags));
  return call.Run(
      [&] { return PENSTOCK_REAL_AS(__open64_2, penstock::agent::FnOpen2)(path, flags); });
}

PENSTOCK_EXPORT int __openat_2(int dir, const char* path, int flags) {
  OpenCall call(NamedBy(path, flags), dir, MayUseCopy(flags));
  return call.Run(
      [&] { return PENSTOCK_REAL_AS(__openat_2, penstock::agent::FnOpenat2)(dir, path, flags); });
}

PENSTOCK_EXPORT int __openat64_2(int dir, const char* path, int flags) {
  OpenCall call(NamedBy(path, flags), dir, MayUseCopy(flags));
  return call.Run(
      [&] { return PENSTOCK_REAL_AS(__openat64_2, penstock::agent::FnOpenat2)(dir, path, flags); });
}

PENSTOCK_EXPORT FILE* fopen(const char* path, const char* mode) {
  OpenCall call(path, AT_FDCWD, MayUseCopy(mode));
  return call.Run([&] { return PENSTOCK_REAL(fopen)(path, mode); });
}

PENSTOCK_EXPORT FILE* fopen64(const char* path, const char* mode) {
  OpenCall call(path, AT_FDCWD, MayUseCopy(mode));
  return call.Run([&] { return PENSTOCK_REAL(fopen64)(path, mode); });
}

PENSTOCK_EXPORT FILE* freopen(const char* path, const char* mode, FILE* file) {
  const int fd = DescriptorOf(file);
  CountReadAhead(file, fd);
  OnClose(fd);
  OpenCall call(path);
  // Never called twice, since a failure closes `file`.
  return call.Done(PENSTOCK_REAL(freopen)(path, mode, file));
}

PENSTOCK_EXPORT FILE* freopen64(const char* path, const char* mode, FILE* file) {
  const int fd = DescriptorOf(file);
  CountReadAhead(file, fd);
  OnClose(fd);
  OpenCall call(path);
  // Never called twice, since a failure closes `file`.
  return call.Done(PENSTOCK_REAL(freopen64)(path, mode, file));
}

// fdopen() is hooked so that a descriptor that no hook saw opened (by a raw system call) is
// classified again.
PENSTOCK_EXPORT FILE* fdopen(int fd, const char* mode) {
  FILE* file = PENSTOCK_REAL(fdopen)(fd, mode);
  if (file != nullptr) {
    LookAgain(fd);
  }
  return file;
}

PENSTOCK_EXPORT int dup(int fd) {
  OpenCall call;
  const int result = call.Run([&] { return PENSTOCK_REAL(dup)(fd); });
  OnDuplicate(fd, result);
  return result;
}

PENSTOCK_EXPORT int dup2(int fd, int to) {
  if (fd != to) {
    OnClose(to);
  }
  OpenCall call;
  const CloseScope scope(to);
  const int result = PENSTOCK_REAL(dup2)(fd, to);
  if (fd == to) {
    return result;
  }
  call.Done(result);
  OnDuplicate(fd, result);
  return result;
}

PENSTOCK_EXPORT int dup3(int fd, int to, int flags) {
  OnClose(to);
  OpenCall call;
  const CloseScope scope(to);
  const int result = call.Run([&] { return PENSTOCK_REAL(dup3)(fd, to, flags); });
  OnDuplicate(fd, result);
  return result;
}

namespace {

using FnFcntl = int(int, int, ...);

int Fcntl(FnFcntl* real, int fd, int command, void* argument) {
  if (command != F_DUPFD && command != F_DUPFD_CLOEXEC) {
    return real(fd, command, argument);
  }
  OpenCall call;
  const int result = call.Run([&] { return real(fd, command, argument); });
  OnDuplicate(fd, result);
  return result;
}

}  // namespace

// The argument is an int or a pointer. Both are passed in one register, so the hook passes the
// argument on unchanged.
#define PENSTOCK_FCNTL(name)                               \
  PENSTOCK_EXPORT int name(int fd, int command, ...) {     \
    va_list list;                                          \
    va_start(list, command);                               \
    void* argument = va_arg(list, void*);                  \
    va_end(list);                                          \
    FnFcntl* real = PENSTOCK_REAL_AS(name, FnFcntl);       \
    if (real == nullptr) { /* fcntl64 before glibc 2.28 */ \
      real = PENSTOCK_REAL_AS(fcntl, FnFcntl);             \
    }                                                      \
    return Fcntl(real, fd, command, argument);             \
  }
PENSTOCK_FCNTL(fcntl)
PENSTOCK_FCNTL(fcntl64)

PENSTOCK_EXPORT int close(int fd) {
  OnClose(fd);
  const CloseScope scope(fd);
  return PENSTOCK_REAL(close)(fd);
}

PENSTOCK_EXPORT int fclose(FILE* file) {
  const int fd = DescriptorOf(file);
  CountReadAhead(file, fd);
  OnClose(fd);
  const CloseScope scope(fd);
  return PENSTOCK_REAL(fclose)(file);
}

namespace {

// Makes the system call directly: glibc has close_range() and closefrom() only from 2.34 on, but
// Linux has the system call from 5.9 on. A program that looks for these functions at run time finds
// our hooks.
long CloseRange(unsigned first, unsigned last, int flags) {
  return penstock::agent::sys::Raw(SYS_close_range, static_cast<long>(first),
                                   static_cast<long>(last), flags);
}

}  // namespace

PENSTOCK_EXPORT int close_range(unsigned first, unsigned last, int flags) noexcept {
  if ((flags & 4 /* CLOSE_RANGE_CLOEXEC */) == 0) {
    OnCloseRange(first, last);
    NoteClosed(first, last);
  }
  const CloseScope scope(-1);
  const long result = CloseRange(first, last, flags);
  if (result < 0) {
    errno = static_cast<int>(-result);
    return -1;
  }
  return 0;
}

PENSTOCK_EXPORT void closefrom(int first) noexcept {
  using FnCloseFrom = void(int);
  const unsigned from = first < 0 ? 0u : static_cast<unsigned>(first);
  OnCloseRange(from, ~0u);
  NoteClosed(from, ~0u);
  FnCloseFrom* real = PENSTOCK_REAL_AS(closefrom, FnCloseFrom);
  const CloseScope scope(-1);
  if (real != nullptr) {
    real(first);
  } else {
    CloseRange(from, ~0u, 0);
  }
}

PENSTOCK_EXPORT int socket(int domain, int type, int protocol) noexcept {
  OpenCall call;
  return call.Run([&] { return PENSTOCK_REAL(socket)(domain, type, protocol); });
}

PENSTOCK_EXPORT int accept(int fd, struct sockaddr* address, socklen_t* size) {
  OpenCall call;
  return call.Run([&] { return PENSTOCK_REAL(accept)(fd, address, size); });
}

PENSTOCK_EXPORT int accept4(int fd, struct sockaddr* address, socklen_t* size, int flags) {
  OpenCall call;
  return call.Run([&] { return PENSTOCK_REAL(accept4)(fd, address, size, flags); });
}
