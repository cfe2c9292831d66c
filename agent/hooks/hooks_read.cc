// SPDX-License-Identifier: Apache-2.0
//
// Hooks on the calls by which data arrives through descriptors: read and its aliases, sockets,
// mappings.

#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "agent/core/fd_table.h"
#include "agent/core/pending_reads.h"
#include "agent/core/process.h"
#include "agent/hooks/hook.h"

using penstock::agent::AddHooked;
using penstock::agent::Descriptor;
using penstock::agent::FdKind;
using penstock::agent::Identify;
using penstock::agent::Now;
using penstock::agent::OnMap;
using penstock::agent::ReadCall;
using penstock::agent::Recording;

namespace {

// What a hook returns if this libc lacks the function. A program that looks for the function at run
// time finds our hook.
ssize_t Absent() {
  errno = ENOSYS;
  return -1;
}

}  // namespace

// Defines a hook on a function that reads: `parameters` are its own, `arguments` are passed on.
#define PENSTOCK_READ(name, parameters, arguments)     \
  PENSTOCK_EXPORT ssize_t name parameters {            \
    ReadCall call(fd);                                 \
    const ssize_t got = PENSTOCK_REAL(name) arguments; \
    call.Done(got);                                    \
    return got;                                        \
  }

#define PENSTOCK_READ_AS(name, parameters, arguments)             \
  PENSTOCK_EXPORT ssize_t name parameters {                       \
    const auto real = PENSTOCK_REAL_AS(name, ssize_t parameters); \
    if (real == nullptr) return Absent();                         \
    ReadCall call(fd);                                            \
    const ssize_t got = real arguments;                           \
    call.Done(got);                                               \
    return got;                                                   \
  }

PENSTOCK_READ(read, (int fd, void* to, size_t size), (fd, to, size))
PENSTOCK_READ(pread, (int fd, void* to, size_t size, off_t at), (fd, to, size, at))
PENSTOCK_READ(pread64, (int fd, void* to, size_t size, off64_t at), (fd, to, size, at))
PENSTOCK_READ(readv, (int fd, const struct iovec* to, int count), (fd, to, count))
PENSTOCK_READ(preadv, (int fd, const struct iovec* to, int count, off_t at), (fd, to, count, at))
PENSTOCK_READ(preadv64, (int fd, const struct iovec* to, int count, off64_t at),
              (fd, to, count, at))
PENSTOCK_READ_AS(__read_chk, (int fd, void* to, size_t size, size_t room), (fd, to, size, room))
PENSTOCK_READ_AS(__pread_chk, (int fd, void* to, size_t size, off_t at, size_t room),
                 (fd, to, size, at, room))
PENSTOCK_READ_AS(__pread64_chk, (int fd, void* to, size_t size, off64_t at, size_t room),
                 (fd, to, size, at, room))

// Since glibc 2.26.
PENSTOCK_READ_AS(preadv2, (int fd, const struct iovec* to, int count, off_t at, int flags),
                 (fd, to, count, at, flags))
PENSTOCK_READ_AS(preadv64v2, (int fd, const struct iovec* to, int count, off64_t at, int flags),
                 (fd, to, count, at, flags))

// Hooks on copies inside the kernel, such as those of shutil.copyfile(). The kernel counts the
// copied bytes as read, so the hooks count them too. They write no span, since no data arrives in
// the program.
#define PENSTOCK_COPY(name, parameters, arguments)                \
  PENSTOCK_EXPORT ssize_t name parameters {                       \
    const auto real = PENSTOCK_REAL_AS(name, ssize_t parameters); \
    if (real == nullptr) return Absent();                         \
    const ssize_t got = real arguments;                           \
    if (got > 0 && Recording()) {                                 \
      const int saved = errno;                                    \
      AddHooked(static_cast<uint64_t>(got));                      \
      errno = saved;                                              \
    }                                                             \
    return got;                                                   \
  }

PENSTOCK_COPY(sendfile, (int to, int fd, off_t* at, size_t size), (to, fd, at, size))
PENSTOCK_COPY(sendfile64, (int to, int fd, off64_t* at, size_t size), (to, fd, at, size))
// Since glibc 2.27.
PENSTOCK_COPY(copy_file_range,
              (int fd, off64_t* at, int to, off64_t* to_at, size_t size, unsigned flags),
              (fd, at, to, to_at, size, flags))

// Hooks on sockets. The kernel does not count a socket's bytes in rchar, so Audit() leaves them
// out. With MSG_PEEK the data stays in the socket, so its bytes are counted when a later call takes
// them.
#define PENSTOCK_RECEIVE(name, type, parameters, arguments)             \
  PENSTOCK_EXPORT type name parameters {                                \
    ReadCall call(fd);                                                  \
    const type got = PENSTOCK_REAL_AS(name, type parameters) arguments; \
    call.DoneSocket((flags & MSG_PEEK) != 0 ? 0 : got);                 \
    return got;                                                         \
  }

PENSTOCK_RECEIVE(recv, ssize_t, (int fd, void* to, size_t size, int flags), (fd, to, size, flags))
PENSTOCK_RECEIVE(__recv_chk, ssize_t, (int fd, void* to, size_t size, size_t room, int flags),
                 (fd, to, size, room, flags))
PENSTOCK_RECEIVE(recvfrom, ssize_t,
                 (int fd, void* to, size_t size, int flags, struct sockaddr* from,
                  socklen_t* from_size),
                 (fd, to, size, flags, from, from_size))
PENSTOCK_RECEIVE(__recvfrom_chk, ssize_t,
                 (int fd, void* to, size_t size, size_t room, int flags, struct sockaddr* from,
                  socklen_t* from_size),
                 (fd, to, size, room, flags, from, from_size))
PENSTOCK_RECEIVE(recvmsg, ssize_t, (int fd, struct msghdr* message, int flags),
                 (fd, message, flags))

PENSTOCK_EXPORT int recvmmsg(int fd, struct mmsghdr* messages, unsigned count, int flags,
                             struct timespec* timeout) {
  ReadCall call(fd);
  const int got = PENSTOCK_REAL(recvmmsg)(fd, messages, count, flags, timeout);
  int64_t bytes = 0;
  for (int i = 0; i < got && (flags & MSG_PEEK) == 0; ++i) {
    bytes += messages[i].msg_len;
  }
  call.DoneSocket(bytes);
  return got;
}

namespace {

template <class Real, class Offset>
void* Map(Real real, void* at, size_t size, int protection, int flags, int fd, Offset offset) {
  if (fd < 0 || (flags & MAP_ANONYMOUS) != 0 || (protection & PROT_READ) == 0 || !Recording()) {
    return real(at, size, protection, flags, fd, offset);
  }
  const Descriptor from = Identify(fd);
  if (from.kind != FdKind::kDataset) {
    return real(at, size, protection, flags, fd, offset);
  }
  const uint64_t start = Now();
  void* result = real(at, size, protection, flags, fd, offset);
  if (result != MAP_FAILED) {
    const int saved = errno;
    OnMap(from, start, Now(), size);
    errno = saved;
  }
  return result;
}

}  // namespace

PENSTOCK_EXPORT void* mmap(void* at, size_t size, int protection, int flags, int fd,
                           off_t offset) noexcept {
  return Map(PENSTOCK_REAL(mmap), at, size, protection, flags, fd, offset);
}

PENSTOCK_EXPORT void* mmap64(void* at, size_t size, int protection, int flags, int fd,
                             off64_t offset) noexcept {
  return Map(PENSTOCK_REAL(mmap64), at, size, protection, flags, fd, offset);
}
