// SPDX-License-Identifier: Apache-2.0
//
// Actions that read from descriptors and streams, in every way.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/torture/victims/machine/machine.h"

#ifdef __GLIBC__
#define FORTIFIED 1
ssize_t __read_chk(int fd, void* to, size_t size, size_t room);
ssize_t __pread_chk(int fd, void* to, size_t size, off_t at, size_t room);
#endif

void Expect(int file, size_t most) {
  if (file >= 0) __atomic_fetch_add(&g_row->cells[file].pending, most, __ATOMIC_SEQ_CST);
}

void Got(int file, size_t most, long got, int perhaps) {
  if (file < 0) return;
  struct Cell* cell = &g_row->cells[file];
  if (got > 0) {
    uint64_t* counter = perhaps || (g_flags & kUnseen)                      ? &cell->perhaps
                        : __atomic_load_n(&g_log->ending, __ATOMIC_SEQ_CST) ? &cell->late
                                                                            : &cell->noted;
    __atomic_fetch_add(counter, (uint64_t)got, __ATOMIC_SEQ_CST);
  }
  __atomic_fetch_sub(&cell->pending, most, __ATOMIC_SEQ_CST);
}

#define READING(call, perhaps)                         \
  const struct Slot* slot = SlotAt(op, 0);             \
  const int file = slot->file;                         \
  char* buffer = Buffer();                             \
  const size_t size = (size_t)op->number[1] % kBuffer; \
  Expect(file, size);                                  \
  const long got = (call);                             \
  const int error = errno;                             \
  Got(file, size, got, perhaps);                       \
  FoldBytes(op, buffer, got);                          \
  return Result(got, error)

static long Read(const struct Op* op) {
  READING(read(slot->fd, buffer, size), 0);
}
static long Pread(const struct Op* op) {
  READING(pread(slot->fd, buffer, size, op->number[2]), 0);
}
static long RawRead(const struct Op* op) {
  READING(syscall(SYS_read, slot->fd, buffer, size), 1);
}
static struct iovec* Halves(struct iovec* to, char* buffer, size_t size) {
  to[0].iov_base = buffer;
  to[0].iov_len = size / 2;
  to[1].iov_base = buffer + size / 2;
  to[1].iov_len = size - size / 2;
  return to;
}
static long Readv(const struct Op* op) {
  struct iovec to[2];
  READING(readv(slot->fd, Halves(to, buffer, size), 2), 0);
}
static long Preadv(const struct Op* op) {
  struct iovec to[2];
  READING(preadv(slot->fd, Halves(to, buffer, size), 2, op->number[2]), 0);
}
#ifdef FORTIFIED
static long Preadv2(const struct Op* op) {
  struct iovec to[2];
  READING(preadv2(slot->fd, Halves(to, buffer, size), 2, op->number[2], 0), 0);
}
static long ReadChk(const struct Op* op) {
  READING(__read_chk(slot->fd, buffer, size, kBuffer), 0);
}
static long PreadChk(const struct Op* op) {
  READING(__pread_chk(slot->fd, buffer, size, op->number[2], kBuffer), 0);
}
#else
#define Preadv2 Preadv
#define ReadChk Read
#define PreadChk Pread
#endif
static char* volatile g_nowhere;
static long ReadBad(const struct Op* op) {
  READING(read(slot->fd, g_nowhere, size + 1), 0);
}
static long StreamRead(const struct Op* op) {
  if (SlotAt(op, 0)->stream == NULL) return -1000;
  READING((long)fread(buffer, 1, size, slot->stream), 0);
}
static long StreamLine(const struct Op* op) {
  if (SlotAt(op, 0)->stream == NULL || op->number[1] < 2) return -1000;
  READING(fgets(buffer, (int)size, slot->stream) != NULL ? (long)strlen(buffer) : 0, 0);
}
static long LineInto(char* buffer, size_t most, FILE* stream, int stop) {
  char* line = NULL;
  size_t room = 0;
  const long got =
      stop == '\n' ? getline(&line, &room, stream) : getdelim(&line, &room, stop, stream);
  if (got > 0) memcpy(buffer, line, (size_t)got < most ? (size_t)got : most);
  free(line);
  return got < 0 ? 0 : got;
}
// The size is an upper bound: the generator knows the longest line of the data set.
static long GetLine(const struct Op* op) {
  if (SlotAt(op, 0)->stream == NULL || op->number[1] < 40000) return -1000;
  READING(LineInto(buffer, size, slot->stream, '\n'), 0);
}
static long GetDelim(const struct Op* op) {
  if (SlotAt(op, 0)->stream == NULL || op->number[1] < 40000) return -1000;
  READING(LineInto(buffer, size, slot->stream, 'e'), 0);
}
static long GetChar(const struct Op* op) {
  if (SlotAt(op, 0)->stream == NULL) return -1000;
  const int file = SlotAt(op, 0)->file;
  Expect(file, 1);
  const int got = fgetc(SlotAt(op, 0)->stream);
  Got(file, 1, got != EOF, 1);
  return got;
}
static long Map(const struct Op* op) {
  const struct Slot* slot = SlotAt(op, 0);
  const int file = slot->file >= 0 ? slot->file + 2 * kFiles : kNoFile;
  const size_t size = (size_t)op->number[1] % kBuffer;
  Expect(file, size);
  char* at = mmap(NULL, size, PROT_READ, MAP_PRIVATE, slot->fd, 0);
  const int error = errno;
  Got(file, size, at != MAP_FAILED ? (long)size : 0, 0);
  if (at == MAP_FAILED) return -error;
  munmap(at, size);  // does not touch the memory: an empty file has none
  return 0;
}
static long Seek(const struct Op* op) {
  const struct Slot* slot = SlotAt(op, 0);
  if (slot->stream != NULL) return fseek(slot->stream, op->number[1], SEEK_SET);
  return Result(lseek(slot->fd, op->number[1], SEEK_SET), errno);
}
static long ManyReads(const struct Op* op) {  // manyreads FIRST COUNT SIZE ROUNDS
  long total = 0;
  const size_t size = (size_t)op->number[2] % kBuffer;
  for (long round = 0; round < op->number[3]; ++round) {
    for (long i = 0; i < op->number[1]; ++i) {
      const struct Slot* slot = &g_slots[(unsigned long)(op->number[0] + i) % kSlots];
      const int file = slot->file;
      if (slot->fd < 0) continue;
      Expect(file, size);
      const long got = pread(slot->fd, Buffer(), size, round * 7);
      Got(file, size, got, 0);
      total += got;
    }
  }
  return total;
}
// until SLOT SIZE: reads until something ends it from outside.
static long Until(const struct Op* op) {
  const struct Slot* slot = SlotAt(op, 0);
  const int file = slot->file;
  const size_t size = (size_t)op->number[1] % kBuffer;
  for (long i = 0; i < 30000000; ++i) {
    Expect(file, size);
    const long got = pread(slot->fd, Buffer(), size, i % 50);
    Got(file, size, got, 0);
  }
  Wrong("nothing ended it");
}

const struct Name kReadActions[] = {
    {"read", Read},           {"pread", Pread},      {"rawread", RawRead},  {"readv", Readv},
    {"preadv", Preadv},       {"preadv2", Preadv2},  {"readchk", ReadChk},  {"preadchk", PreadChk},
    {"readbad", ReadBad},     {"fread", StreamRead}, {"fgets", StreamLine}, {"getline", GetLine},
    {"getdelim", GetDelim},   {"fgetc", GetChar},    {"mmap", Map},         {"seek", Seek},
    {"manyreads", ManyReads}, {"until", Until},      {NULL, NULL}};
