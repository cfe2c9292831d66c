/* SPDX-License-Identifier: Apache-2.0
 *
 * The reader of traces as a C library, libpenstock_trace.so: tables as columns in the caller's
 * memory, for Python (python/penstock, by ctypes) and anything else that can call C. Nothing here
 * prints, exits, reads the environment or lets an exception out.
 *
 * Threads: several threads may read a trace at once. Close it when none uses it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when a struct or a function changes its meaning. */
#define PENSTOCK_TRACE_ABI 1

typedef struct PenstockTrace PenstockTrace;

/* Columns. Each is NULL (not wanted), or has the room that the function asks for. Times are
 * CLOCK_MONOTONIC nanoseconds; -1: not known. Names and objects are ids of texts. Threads and
 * processes are numbered from 0 in the order of penstock_trace_about(). `size` lets a later version
 * add columns; this version has no columns to leave out, so it ignores `size`. */
typedef struct PenstockSpans {
  size_t size; /* sizeof(PenstockSpans) of the caller */
  int64_t* start;
  int64_t* duration;
  int64_t* cpu;  /* thread CPU time inside */
  int64_t* busy; /* inside the calls of a coalesced read; else the duration */
  uint64_t* bytes;
  int64_t* sample;
  int64_t* batch;
  uint32_t* name;
  uint32_t* object;
  uint32_t* thread;
  uint32_t* process;
  uint16_t* generation;
  uint8_t* stage;
  uint8_t* flags;
  uint8_t* depth;
} PenstockSpans;

typedef struct PenstockEvents {
  size_t size;
  int64_t* at;
  int64_t* batch;
  int64_t* value;
  uint32_t* thread;
  uint32_t* process;
  uint16_t* generation;
  uint8_t* type;
} PenstockEvents;

typedef struct PenstockCounters {
  size_t size;
  int64_t* at;
  int64_t* value;
  uint32_t* name;
  uint32_t* process;
} PenstockCounters;

/* A row for each node of a followed unit's call tree: a function as called along one path, a
 * callable that is not Python's, or a line of the node's caller. Times do not include the cost of
 * following. Stalls, whose nodes have no times, are left out. */
typedef struct PenstockFunctions {
  size_t size;
  int64_t* start;     /* of the unit */
  int64_t* unit_time; /* of the whole unit */
  int64_t* sample;
  int64_t* batch;
  int64_t* own;    /* in no other node */
  int64_t* total;  /* in all its calls, with what they called */
  uint64_t* calls; /* for a line: how often it was entered */
  uint32_t* unit;  /* number of the followed unit, from 0 in the order of their starts */
  uint32_t* function;
  uint32_t* file; /* id of a text; the text is empty if there is no file */
  uint32_t* line; /* 0: none */
  uint32_t* thread;
  uint32_t* process;
  int32_t* node;   /* number of the node in its unit, from 0, callers first */
  int32_t* caller; /* a node of the same unit; -1: the unit itself */
  uint16_t* generation;
  uint8_t* stage; /* of the unit */
  uint8_t* kind;
  uint8_t* flags; /* of the unit: traces/FORMAT.md, "Followed units" */
} PenstockFunctions;

typedef struct PenstockCounts {
  size_t size;
  uint64_t spans;
  uint64_t events;
  uint64_t counters;
  int64_t begin;
  int64_t end;
  int64_t realtime_offset; /* CLOCK_REALTIME minus CLOCK_MONOTONIC */
  uint64_t functions;      /* upper limit of rows: lost ones and those of stalls are left out */
} PenstockCounts;

int penstock_trace_abi(void);

/* Why the last failed call of this thread failed: one line, valid until the next failed call. */
const char* penstock_trace_message(void);

/* Opens a packed trace or a recording. Returns 0; otherwise the message says why and names the
 * file. */
int penstock_trace_open(const char* path, PenstockTrace** trace);
void penstock_trace_close(PenstockTrace* trace);

void penstock_trace_counts(const PenstockTrace* trace, PenstockCounts* counts);

/* Losses, facts, processes and threads as JSON, one object per line: traces/export.h. Valid as long
 * as the trace. NULL: no memory. */
const char* penstock_trace_about(PenstockTrace* trace);

/* The names of stages, of event types and of kinds of calls by number; NULL if a number has none.
 */
const char* penstock_trace_stage(uint32_t stage);
const char* penstock_trace_event(uint32_t type);
const char* penstock_trace_call(uint32_t kind);

/* Fills the columns with the spans whose stage is in `stages` (bit 1 << stage), by thread, then by
 * start. All 64 bits: every span. Room: counts.spans for each. Returns the number of spans, or -1.
 * Cost: all cores; each block of the trace is decoded once. The function touches at most about
 * twice the memory that it fills. In an anonymous mapping the rest of the room costs nothing. */
int64_t penstock_trace_spans(const PenstockTrace* trace, uint64_t stages, const PenstockSpans* out);

/* All events, or counters, in order of time. Room: counts.events, counts.counters. */
int64_t penstock_trace_events(const PenstockTrace* trace, const PenstockEvents* out);
int64_t penstock_trace_counters(const PenstockTrace* trace, const PenstockCounters* out);

/* The followed calls of the units whose stage is in `stages`, by unit, then by node. Room:
 * counts.functions for each. Returns the number of rows, or -1. */
int64_t penstock_trace_functions(const PenstockTrace* trace, uint64_t stages,
                                 const PenstockFunctions* out);

/* Replaces each id in `column` by its place among the ids that occur, in ascending order. Writes
 * those ids to `used` and returns their number. Shapes: column [rows], each id below `bound`;
 * places [bound], working memory of zeros; used: room for min(rows, bound) ids. Cost: all cores. */
int64_t penstock_trace_places(uint32_t* column, uint64_t rows, uint32_t* places, uint64_t bound,
                              uint32_t* used);

/* Writes the texts of `count` ids one after the other, without zeros; ends[i] is the end of text i.
 * Returns the bytes of all texts, or -1. If they are more than `room`, `text` has only the first
 * texts, those that fit. */
int64_t penstock_trace_texts(const PenstockTrace* trace, const uint32_t* ids, size_t count,
                             uint64_t* ends, char* text, size_t room);

#ifdef __cplusplus
}
#endif
