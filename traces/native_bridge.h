/* SPDX-License-Identifier: Apache-2.0
 *
 * Lets a native program write its own spans to a recording: a table of functions that the preloaded
 * agent provides. A program finds it with
 *
 *     PenstockNativeBridgeFunction *get = dlsym(RTLD_DEFAULT, PENSTOCK_NATIVE_BRIDGE);
 *     const PenstockNativeBridge *bridge = get != NULL ? get() : NULL;
 *
 * and also runs without it. C and C++; nothing to link. Every function may be called at any moment
 * from any thread. It allocates nothing from the heap, keeps errno, and writes nothing while the
 * recording is off. It takes no lock, except that threads wait while the first event of a process
 * attaches this process to the recording. Spans, events and counters belong to the calling thread,
 * claims, facts and the role to the whole process. Values of stages, events, flags and roles are
 * those of traces/wire_records.h and traces/wire.h.
 *
 * The table grows at its end: test `size` before using a function that was added later.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define PENSTOCK_NATIVE_BRIDGE "penstock_native_bridge"

#ifdef __cplusplus
extern "C" {
#endif

/* A sample, its batch and its epoch. */
typedef struct PenstockPlace {
  int64_t sample;      /* dataset index; -1: none */
  uint32_t batch;      /* index in its epoch; 0xffffffff: none */
  uint32_t generation; /* number of the epoch, over all loaders; below 65536 */
} PenstockPlace;

/* An open span of the thread that opened it; depth 0: none. Only that thread may end it. */
typedef struct PenstockToken {
  uint32_t depth;
  uint32_t serial;
} PenstockToken;

typedef struct PenstockNativeBridge {
  size_t size; /* bytes of the table in this agent */

  /* Not 0 while the recording is on. */
  int (*recording)(void);
  /* The program writes the spans of these stages itself (bit 1 << stage): in the whole process the
   * hooks only count their bytes. Without a claim, hooks write nothing inside a span of the same
   * stage that this bridge opened, and write their own spans elsewhere. */
  void (*claim)(uint32_t stages);
  /* The recording's clock, for emit(). */
  uint64_t (*now)(void);
  /* The id of a text. The low 32 bits name a span or counter; all 64 are an object (a path).
   * 0 for an empty text. */
  uint64_t (*intern)(const char* text, size_t size);

  /* Opens a span. `place`: that of the span and of all spans inside it; NULL: the thread's. `cpu`:
   * take thread CPU time, a system call at both ends. A span that is left open is closed with the
   * one around it. */
  PenstockToken (*begin)(uint32_t stage, uint32_t name, const PenstockPlace* place, int cpu);
  /* Closes a span; it gets the place that holds at this moment. `object`: id of a path, or 0. */
  void (*end)(PenstockToken token, uint64_t bytes, uint64_t object, uint32_t flags);
  void (*cancel)(PenstockToken token);
  /* Writes a span whose start and end are known. `place`: as in begin(). */
  void (*emit)(uint32_t stage, uint32_t name, const PenstockPlace* place, uint64_t start,
               uint64_t end, uint64_t bytes, uint64_t object, uint32_t flags);
  /* Writes an event of a batch: the sample of `place` is left out. */
  void (*event)(uint32_t type, const PenstockPlace* place, int64_t value);
  /* The program has received a batch: writes the event, and counts it towards the `--batches` of
   * the whole run; the last of these ends the recording. */
  void (*delivered)(const PenstockPlace* place);
  void (*counter)(uint32_t name, int64_t value);

  /* Sets the place of the calling thread's spans from now on; NULL: none. */
  void (*set_context)(const PenstockPlace* place);
  /* Writes a fact of this process; texts end with a zero byte. */
  void (*fact)(const char* key, const char* value);
  /* Sets what this process is in the run; `worker_id`: -1 if it is no worker. */
  void (*role)(uint32_t role, int32_t worker_id);
  /* Names the calling thread in the recording. */
  void (*thread_name)(const char* text);
} PenstockNativeBridge;

typedef const PenstockNativeBridge* PenstockNativeBridgeFunction(void);

#ifdef __cplusplus
}
#endif
