/* SPDX-License-Identifier: Apache-2.0
 *
 * How a native program speaks for itself in a recording: a table of functions that the preloaded
 * agent gives out. A program finds it with
 *
 *     PenstockNativeBridgeFunction *get = dlsym(RTLD_DEFAULT, PENSTOCK_NATIVE_BRIDGE);
 *     const PenstockNativeBridge *bridge = get != NULL ? get() : NULL;
 *
 * and runs as well without. C and C++; nothing to link. Every function may be called at any moment
 * from any thread, acts on the calling thread, allocates nothing, takes no lock, keeps errno, and
 * does nothing while the recording is off. Values of stages, events, flags and roles are those of
 * traces/wire_records.h and traces/wire.h.
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

/* Which sample of which batch of which epoch. */
typedef struct PenstockPlace {
  int64_t sample;      /* dataset index, -1: none */
  uint32_t batch;      /* index in its epoch, 0xffffffff: none */
  uint32_t generation; /* which epoch of which loader, below 65536 */
} PenstockPlace;

/* An open span of this thread; depth 0: none. */
typedef struct PenstockToken {
  uint32_t depth;
  uint32_t serial;
} PenstockToken;

typedef struct PenstockNativeBridge {
  size_t size; /* bytes of the table in this agent */

  /* Not 0 while the recording is on. */
  int (*recording)(void);
  /* The program writes the spans of these stages itself (bit 1 << stage): in all of the process the
   * hooks only count their bytes. Without it they are silent inside a span of the same stage that
   * this bridge opened, and write their own elsewhere. */
  void (*claim)(uint32_t stages);
  /* The recording's clock, for emit(). */
  uint64_t (*now)(void);
  /* The id of a text. The low 32 bits name a span or counter; all 64 are an object (a path).
   * 0: of an empty text. */
  uint64_t (*intern)(const char* text, size_t size);

  /* Opens a span. `place`: of the span and all inside it; NULL: the thread's. `cpu`: take thread
   * CPU time, a system call at both ends. A span left open is closed with the one around it. */
  PenstockToken (*begin)(uint32_t stage, uint32_t name, const PenstockPlace* place, int cpu);
  /* Closes it, with the place of this moment. `object`: id of a path, or 0. */
  void (*end)(PenstockToken token, uint64_t bytes, uint64_t object, uint32_t flags);
  void (*cancel)(PenstockToken token);
  /* A span whose ends are known. `place`: NULL: the thread's. */
  void (*emit)(uint32_t stage, uint32_t name, const PenstockPlace* place, uint64_t start,
               uint64_t end, uint64_t bytes, uint64_t object, uint32_t flags);
  void (*event)(uint32_t type, const PenstockPlace* place, int64_t value);
  /* A batch was handed to the program: the event, and a step towards the limit of `--batches`. */
  void (*delivered)(const PenstockPlace* place);
  void (*counter)(uint32_t name, int64_t value);

  /* The place of all spans from now on. */
  void (*set_context)(const PenstockPlace* place);
  /* A fact of this process; texts end with a zero byte. */
  void (*fact)(const char* key, const char* value);
  void (*role)(uint32_t role, int32_t worker_id);
  /* Names the calling thread in the recording. */
  void (*thread_name)(const char* text);
} PenstockNativeBridge;

typedef const PenstockNativeBridge* PenstockNativeBridgeFunction(void);

#ifdef __cplusplus
}
#endif
