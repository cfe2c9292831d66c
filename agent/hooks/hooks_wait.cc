// SPDX-License-Identifier: Apache-2.0
//
// Hooks on calls in which a thread of Python waits for another one. Python's locks are semaphores.
// Python first tries to take a semaphore without waiting, so a thread that calls these functions
// does wait.

#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "agent/core/blocked.h"
#include "agent/hooks/hook.h"

using penstock::agent::BlockedOn;
using penstock::agent::Now;
using penstock::agent::OnBlocked;
using penstock::agent::OnBlockedWrite;
using penstock::agent::Recording;
using penstock::agent::WatchesBlocks;

// Defines a hook on a call that may block: `parameters` are its own, `arguments` are passed on. If
// `waits` is false, the call does not wait.
#define PENSTOCK_WAIT(name, what, waits, parameters, arguments)              \
  PENSTOCK_EXPORT int name parameters {                                      \
    const auto real = PENSTOCK_REAL_NEAR(name, int parameters);              \
    if (real == nullptr) {                                                   \
      errno = ENOSYS;                                                        \
      return -1;                                                             \
    }                                                                        \
    if (!WatchesBlocks() || !(waits) || !Recording()) return real arguments; \
    const uint64_t start = Now();                                            \
    const int result = real arguments;                                       \
    OnBlocked(BlockedOn::what, start);                                       \
    return result;                                                           \
  }

PENSTOCK_WAIT(sem_wait, kLock, true, (sem_t * lock), (lock))
PENSTOCK_WAIT(sem_timedwait, kLock, true, (sem_t * lock, const struct timespec* until),
              (lock, until))
// Since glibc 2.30.
PENSTOCK_WAIT(sem_clockwait, kLock, true,
              (sem_t * lock, clockid_t clock, const struct timespec* until), (lock, clock, until))

PENSTOCK_WAIT(poll, kPoll, timeout != 0, (struct pollfd * of, nfds_t count, int timeout),
              (of, count, timeout))
PENSTOCK_WAIT(__poll_chk, kPoll, timeout != 0,
              (struct pollfd * of, nfds_t count, int timeout, size_t room),
              (of, count, timeout, room))
PENSTOCK_WAIT(epoll_wait, kPoll, timeout != 0,
              (int fd, struct epoll_event* to, int most, int timeout), (fd, to, most, timeout))
// Without descriptors select() is a sleep.
PENSTOCK_WAIT(select, kPoll, count > 0,
              (int count, fd_set* in, fd_set* out, fd_set* other, struct timeval* timeout),
              (count, in, out, other, timeout))

// A thread that writes into a full pipe waits for its reader.
#define PENSTOCK_WRITE(name, parameters, arguments)               \
  PENSTOCK_EXPORT ssize_t name parameters {                       \
    const auto real = PENSTOCK_REAL_AS(name, ssize_t parameters); \
    if (!WatchesBlocks() || !Recording()) return real arguments;  \
    const uint64_t start = Now();                                 \
    const ssize_t result = real arguments;                        \
    OnBlockedWrite(fd, start);                                    \
    return result;                                                \
  }

PENSTOCK_WRITE(write, (int fd, const void* from, size_t size), (fd, from, size))
PENSTOCK_WRITE(writev, (int fd, const struct iovec* from, int count), (fd, from, count))
PENSTOCK_WRITE(send, (int fd, const void* from, size_t size, int flags), (fd, from, size, flags))
PENSTOCK_WRITE(sendto,
               (int fd, const void* from, size_t size, int flags, const struct sockaddr* to,
                socklen_t to_size),
               (fd, from, size, flags, to, to_size))
PENSTOCK_WRITE(sendmsg, (int fd, const struct msghdr* message, int flags), (fd, message, flags))
