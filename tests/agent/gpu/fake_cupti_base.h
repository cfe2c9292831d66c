/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared parts of CUPTI's double: kinds and sizes of records, the mode in FAKE_CUPTI, the file in
 * FAKE_TRUTH that says what the double did, clocks. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/agent/gpu/fake_cuda.h"

enum {
  kMemcpy = 1,
  kMemset = 2,
  kDriver = 4,
  kRuntime = 5,
  kKernel = 10,
  kOverhead = 17,
  kSync = 38
};
#ifdef FAKE_OLD
enum { kMemcpySize = 64, kKernelSize = 160, kMemsetSize = 64, kVersion = 13 };
#elif defined(FAKE_13)
enum { kMemcpySize = 88, kKernelSize = 208, kMemsetSize = 80, kVersion = 130202 };
#else
enum { kMemcpySize = 88, kKernelSize = 208, kMemsetSize = 80, kVersion = 26 };
#endif
enum { kApiSize = 40, kSyncSize = 40, kOverheadSize = 40, kStrangeSize = 24 };

static uint64_t (*clock_of_client)(void);
static pid_t owner;

static int Is(const char* mode) {
  const char* value = getenv("FAKE_CUPTI");
  return value != NULL && strcmp(value, mode) == 0;
}

static uint32_t Version(void) {
  const char* value = getenv("FAKE_VERSION");
  return value != NULL ? (uint32_t)atoi(value) : kVersion;
}

static void Truth(const char* line) {
  const char* path = getenv("FAKE_TRUTH");
  FILE* file = path != NULL ? fopen(path, "a") : NULL;
  if (file == NULL) return;
  fputs(line, file);
  fclose(file);
}

static void CheckProcess(void) {
  if (owner != 0 && owner != getpid()) Truth("child\n");
}

static uint64_t Read(clockid_t which) {
  struct timespec t;
  clock_gettime(which, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The wall clock minus an hour, so that no test can confuse it with another clock. */
static uint64_t OwnClock(void) {
  return Read(CLOCK_REALTIME) - 3600000000000u;
}

static uint64_t StampClock(void) {
  return clock_of_client != NULL ? clock_of_client() : OwnClock();
}

/* Reads the monotonic clock and the clock of stamps at the same time. The readings are at most half
 * a microsecond apart, unless the machine is too busy for that in a hundred tries. */
static void Both(uint64_t* monotonic, uint64_t* stamp) {
  uint64_t best = ~(uint64_t)0;
  for (int i = 0; i < 100 && best > 500; ++i) {
    const uint64_t before = Read(CLOCK_MONOTONIC);
    const uint64_t own = StampClock();
    const uint64_t width = Read(CLOCK_MONOTONIC) - before;
    if (width < best) {
      best = width;
      *monotonic = before + width / 2;
      *stamp = own;
    }
  }
}

/* Returns the wall clock's time for a stamp. CUPTI uses this clock if it loses its client's clock.
 */
static uint64_t ForeignClock(uint64_t stamp) {
  return stamp + (Read(CLOCK_REALTIME) - Read(CLOCK_MONOTONIC));
}

#define FIELD(record, at, type, value)             \
  do {                                             \
    const type field = (type)(value);              \
    memcpy((record) + (at), &field, sizeof field); \
  } while (0)

static size_t SizeOf(const uint8_t* record) {
  uint32_t kind;
  memcpy(&kind, record, sizeof kind);
  switch (kind) {
    case kMemcpy:
      return kMemcpySize;
    case kMemset:
      return kMemsetSize;
    case kKernel:
      return kKernelSize;
    case kRuntime:
      return kApiSize;
    case kSync:
      return kSyncSize;
    case kOverhead:
      return kOverheadSize;
    default:
      return kStrangeSize;
  }
}
