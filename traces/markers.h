/* SPDX-License-Identifier: Apache-2.0
 *
 * Marks for a native loader, in C99 or C++. They say which stage a piece of code is, and which
 * sample and batch it works on. A thin layer over traces/native_bridge.h; there is nothing to link
 * (before glibc 2.34, dlsym is in libdl). Without the agent every function does nothing, at the
 * cost of a load and a branch.
 *
 *     penstock_place(sample, batch, epoch);
 *     PenstockToken span = penstock_begin(PENSTOCK_DECODE, "my_decoder");
 *     decode(...);
 *     penstock_end(span, pixels_in_bytes);
 *
 * Threads: any, at any moment; each call acts on the thread it is made from. Allocates nothing.
 * The table is looked up once per translation unit. */
#pragma once

#ifndef _GNU_SOURCE
#define PENSTOCK_RTLD_DEFAULT ((void*)0)
#else
#define PENSTOCK_RTLD_DEFAULT RTLD_DEFAULT
#endif

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "traces/native_bridge.h"

/* The stages of docs/design.md 4, with the values of traces/wire_records.h. */
enum PenstockStage {
  PENSTOCK_READ = 1,
  PENSTOCK_DECODE = 2,
  PENSTOCK_AUGMENT = 3,
  PENSTOCK_SAMPLE = 4,
  PENSTOCK_COLLATE = 5,
  PENSTOCK_FETCH = 6,
  PENSTOCK_PUT = 7,
  PENSTOCK_GET = 8,
  PENSTOCK_PIN = 9,
  PENSTOCK_WAIT = 10,
  PENSTOCK_IDLE = 11,
  PENSTOCK_STEP = 14,
  PENSTOCK_STARTUP = 15,
  PENSTOCK_MARK = 16,
  PENSTOCK_TOKENIZE = 21
};

/* The agent's table; NULL if there is no agent. */
static inline const PenstockNativeBridge* penstock_bridge(void) {
  static const PenstockNativeBridge* found; /* every thread writes the same value, before `asked` */
  static int asked;
  if (!__atomic_load_n(&asked, __ATOMIC_ACQUIRE)) {
    void* symbol = dlsym(PENSTOCK_RTLD_DEFAULT, PENSTOCK_NATIVE_BRIDGE);
    PenstockNativeBridgeFunction* get = NULL;
    memcpy(&get, &symbol, sizeof get); /* C has no cast from object to function */
    __atomic_store_n(&found, get != NULL ? get() : NULL, __ATOMIC_RELAXED);
    __atomic_store_n(&asked, 1, __ATOMIC_RELEASE);
  }
  return __atomic_load_n(&found, __ATOMIC_RELAXED);
}

/* Not 0 while a recording is on. */
static inline int penstock_recording(void) {
  const PenstockNativeBridge* bridge = penstock_bridge();
  return bridge != NULL && bridge->recording();
}

/* Sets the sample, batch and epoch that this thread works on from now on; -1 and UINT32_MAX: none.
 * Epochs are numbered from 0, batches from 0 in each epoch. */
static inline void penstock_place(int64_t sample, uint32_t batch, uint32_t epoch) {
  const PenstockNativeBridge* bridge = penstock_bridge();
  PenstockPlace place;
  if (bridge == NULL) return;
  place.sample = sample;
  place.batch = batch;
  place.generation = epoch + 1;
  bridge->set_context(&place);
}

/* Opens a span of this thread; spans nest. Takes thread CPU time (a system call at both ends) for
 * decode, augment, tokenize, sample, collate and fetch; other stages are cheap. */
static inline PenstockToken penstock_begin(enum PenstockStage stage, const char* name) {
  const PenstockNativeBridge* bridge = penstock_bridge();
  PenstockToken none = {0, 0};
  if (bridge == NULL || !bridge->recording()) return none;
  return bridge->begin(
      (uint32_t)stage, (uint32_t)bridge->intern(name, strlen(name)), NULL,
      (stage >= PENSTOCK_DECODE && stage <= PENSTOCK_FETCH) || stage == PENSTOCK_TOKENIZE);
}

static inline void penstock_end(PenstockToken span, uint64_t bytes) {
  if (span.depth != 0) penstock_bridge()->end(span, bytes, 0, 0);
}

/* As penstock_end(), with the path of the file that was read or decoded. */
static inline void penstock_end_file(PenstockToken span, uint64_t bytes, const char* path) {
  const PenstockNativeBridge* bridge = penstock_bridge();
  if (span.depth != 0) bridge->end(span, bytes, bridge->intern(path, strlen(path)), 0);
}

/* The program has received batch `batch` of epoch `epoch`. */
static inline void penstock_delivered(uint32_t batch, uint32_t epoch) {
  const PenstockNativeBridge* bridge = penstock_bridge();
  PenstockPlace place;
  if (bridge == NULL) return;
  place.sample = -1;
  place.batch = batch;
  place.generation = epoch + 1;
  bridge->delivered(&place);
}

/* From now on the hooks write no spans of this stage in the whole process, because the program
 * marks it itself; they only count its bytes. */
static inline void penstock_claim(enum PenstockStage stage) {
  const PenstockNativeBridge* bridge = penstock_bridge();
  if (bridge != NULL) bridge->claim(1u << (unsigned)stage);
}
