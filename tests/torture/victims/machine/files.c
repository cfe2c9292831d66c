// SPDX-License-Identifier: Apache-2.0
//
// Actions on descriptors and streams: opening, sharing, passing on, and closing by other threads.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/torture/victims/machine/machine.h"

static int g_pair[2] = {-1, -1};

static char* PathOf(const char* kind, long number, char* path) {
  // No snprintf: this runs in signal handlers too.
  char* end = path;
  for (const char* p = g_folder; *p != 0;) *end++ = *p++;
  for (const char* p = kind; *p != 0;) *end++ = *p++;
  *end++ = (char)('0' + number / 10 % 10);
  *end++ = (char)('0' + number % 10);
  for (const char* p = ".bin"; *p != 0;) *end++ = *p++;
  *end = 0;
  return path;
}

static long Take(struct Slot* slot, int fd, int file) {
  if (fd < 0) return -errno;
  slot->fd = fd;
  slot->file = file;
  slot->stream = NULL;
  return 0;
}

static long Open(const struct Op* op) {
  char path[600];
  const int file = (int)(op->number[1] % kFiles);
  return Take(SlotAt(op, 0), open(PathOf("/set/", file, path), O_RDONLY), file);
}
static long OpenAt(const struct Op* op) {
  char path[600];
  const int file = (int)(op->number[1] % kFiles);
  PathOf("/set/", file, path);
  return Take(SlotAt(op, 0), openat(AT_FDCWD, path + strlen(g_folder) + 1, O_RDONLY | O_CLOEXEC),
              file);
}
static long OpenLink(const struct Op* op) {
  char path[600];
  const int file = (int)(op->number[1] % kFiles);
  return Take(SlotAt(op, 0), open(PathOf("/links/", file, path), O_RDONLY), file);
}
static long RawOpen(const struct Op* op) {
  char path[600];
  const int file = (int)(op->number[1] % kFiles);
  const long fd = syscall(SYS_openat, AT_FDCWD, PathOf("/set/", file, path), O_RDONLY);
  return Take(SlotAt(op, 0), (int)fd, file);
}
static long Create(const struct Op* op) {
  char path[600];
  const int file = (int)(op->number[1] % kFiles);
  PathOf("/out/", file, path);
  return Take(SlotAt(op, 0), open(path, O_RDWR | O_CREAT | O_TRUNC, 0644), file + kFiles);
}
static long StreamOpen(const struct Op* op) {
  char path[600];
  const int file = (int)(op->number[1] % kFiles);
  FILE* stream = fopen(PathOf("/set/", file, path), "r");
  if (stream == NULL) return -errno;
  struct Slot* slot = SlotAt(op, 0);
  Take(slot, fileno(stream), file);
  slot->stream = stream;
  return 0;
}
static long StreamOf(const struct Op* op) {
  struct Slot* slot = SlotAt(op, 0);
  FILE* stream = fdopen(slot->fd, "r");
  if (stream == NULL) return -errno;
  slot->stream = stream;
  return 0;
}
static long Memory(const struct Op* op) {
  const int fd = (int)syscall(SYS_memfd_create, "victim", 0);
  if (fd < 0) return -errno;
  char* buffer = Buffer();
  memset(buffer, 'm', (size_t)op->number[1] % kBuffer);
  if (pwrite(fd, buffer, (size_t)op->number[1] % kBuffer, 0) < 0) return -errno;
  return Take(SlotAt(op, 0), fd, kNoFile);
}
static long Pipe(const struct Op* op) {
  int ends[2];
  if (pipe(ends) != 0) return -errno;
  const size_t size = (size_t)op->number[2] % 4096;
  memset(Buffer(), 'p', size);
  if (write(ends[1], Buffer(), size) < 0) return -errno;
  Take(SlotAt(op, 0), ends[0], kNoFile);
  return Take(SlotAt(op, 1), ends[1], kNoFile);
}
static long Fill(const struct Op* op) {
  const size_t size = (size_t)op->number[1] % kBuffer;
  memset(Buffer(), 'f', size);
  return Result(pwrite(SlotAt(op, 0)->fd, Buffer(), size, op->number[2]), errno);
}
static long Write(const struct Op* op) {
  const size_t size = (size_t)op->number[1] % kBuffer;
  memset(Buffer(), 'w', size);
  return Result(write(SlotAt(op, 0)->fd, Buffer(), size), errno);
}

static long Dup(const struct Op* op) {
  return Take(SlotAt(op, 1), dup(SlotAt(op, 0)->fd), SlotAt(op, 0)->file);
}
static long DupTo(const struct Op* op) {  // replaces the other slot's descriptor
  struct Slot* to = SlotAt(op, 1);
  return Take(to, to->fd >= 0 ? dup2(SlotAt(op, 0)->fd, to->fd) : dup(SlotAt(op, 0)->fd),
              SlotAt(op, 0)->file);
}
static long DupHigh(const struct Op* op) {
  return Take(SlotAt(op, 1), fcntl(SlotAt(op, 0)->fd, F_DUPFD_CLOEXEC, (int)op->number[2]),
              SlotAt(op, 0)->file);
}
static long RawDupTo(const struct Op* op) {
  struct Slot* to = SlotAt(op, 1);
  if (to->fd < 0) return -1000;
  return Take(to, (int)syscall(SYS_dup3, SlotAt(op, 0)->fd, to->fd, 0), SlotAt(op, 0)->file);
}
static long Close(const struct Op* op) {
  struct Slot* slot = SlotAt(op, 0);
  const int done = slot->stream != NULL ? fclose(slot->stream) : close(slot->fd);
  const long result = Result(done, errno);
  slot->fd = slot->file = -1;
  slot->stream = NULL;
  return result;
}
static long RawClose(const struct Op* op) {
  struct Slot* slot = SlotAt(op, 0);
  const long result = Result(syscall(SYS_close, slot->fd), errno);
  slot->fd = slot->file = -1;
  slot->stream = NULL;
  return result;
}
static long CloseAll(const struct Op* op) {
  (void)op;
  for (int i = 0; i < kSlots; ++i) {
    g_slots[i].fd = g_slots[i].file = -1;
    g_slots[i].stream = NULL;
  }
  for (int fd = 3; fd < 300; ++fd) close(fd);
  return 0;
}
static long CloseRange(const struct Op* op) {
  (void)op;
  for (int i = 0; i < kSlots; ++i) {
    g_slots[i].fd = g_slots[i].file = -1;
    g_slots[i].stream = NULL;
  }
#ifdef SYS_close_range
  return Result(syscall(SYS_close_range, 3, ~0U, 0), errno);
#else
  return 0;
#endif
}
// The lowest free number; 0 once there are threads, since the agent may have its output open for a
// moment while it writes on another thread (RELIABILITY.md).
static long LowFd(const struct Op* op) {
  (void)op;
  const int fd = open("/dev/null", O_RDONLY);
  if (fd >= 0) close(fd);
  return Result(fd < 0 || !g_made_threads ? fd : 0, errno);
}

static long Many(const struct Op* op) {  // many FIRST COUNT: opens COUNT files and keeps them open
  long opened = 0;
  for (long i = 0; i < op->number[1]; ++i) {
    char path[600];
    const int file = (int)(i % kFiles);
    struct Slot* slot = &g_slots[(unsigned long)(op->number[0] + i) % kSlots];
    if (Take(slot, open(PathOf("/set/", file, path), O_RDONLY), file) == 0) ++opened;
  }
  return opened;
}

// -- passing on

static long Pair(const struct Op* op) {
  (void)op;
  return Result(socketpair(AF_UNIX, SOCK_STREAM, 0, g_pair), errno);
}
static struct msghdr* Message(struct msghdr* message, struct iovec* part, char* room, size_t size) {
  static char letter = 'd';
  memset(message, 0, sizeof *message);
  part->iov_base = &letter;
  part->iov_len = 1;
  message->msg_iov = part;
  message->msg_iovlen = 1;
  message->msg_control = room;
  message->msg_controllen = (unsigned)size;
  return message;
}
union Room {
  struct cmsghdr head;
  char bytes[CMSG_SPACE(sizeof(int) + sizeof(int))];
};
// The message is one byte: the number of the file.
static long Send(const struct Op* op) {
  union Room room;
  struct msghdr message;
  struct iovec part;
  memset(&room, 0, sizeof room);
  Message(&message, &part, room.bytes, CMSG_SPACE(sizeof(int)));
  char file = (char)SlotAt(op, 0)->file;
  part.iov_base = &file;
  room.head.cmsg_level = SOL_SOCKET;
  room.head.cmsg_type = SCM_RIGHTS;
  room.head.cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(&room.head), &SlotAt(op, 0)->fd, sizeof(int));
  return Result(sendmsg(g_pair[0], &message, 0), errno);
}
static long Receive(const struct Op* op) {
  union Room room;
  struct msghdr message;
  struct iovec part;
  memset(&room, 0, sizeof room);
  Message(&message, &part, room.bytes, CMSG_SPACE(sizeof(int)));
  char file = 0;
  part.iov_base = &file;
  ssize_t got;
  do {
    got = recvmsg(g_pair[1], &message, 0);
  } while (got < 0 && errno == EINTR);
  if (got <= 0 || message.msg_controllen < CMSG_LEN(sizeof(int))) return got < 0 ? -errno : -1000;
  int fd;
  memcpy(&fd, CMSG_DATA(&room.head), sizeof fd);
  return Take(SlotAt(op, 0), fd, file);
}

const struct Name kFileActions[] = {{"open", Open},
                                    {"openat", OpenAt},
                                    {"openlink", OpenLink},
                                    {"rawopen", RawOpen},
                                    {"create", Create},
                                    {"fopen", StreamOpen},
                                    {"fdopen", StreamOf},
                                    {"memfd", Memory},
                                    {"pipe", Pipe},
                                    {"fill", Fill},
                                    {"write", Write},
                                    {"dup", Dup},
                                    {"dup2", DupTo},
                                    {"duphigh", DupHigh},
                                    {"rawdup2", RawDupTo},
                                    {"close", Close},
                                    {"rawclose", RawClose},
                                    {"closeall", CloseAll},
                                    {"closerange", CloseRange},
                                    {"lowfd", LowFd},
                                    {"many", Many},
                                    {"pair", Pair},
                                    {"send", Send},
                                    {"receive", Receive},
                                    {NULL, NULL}};
