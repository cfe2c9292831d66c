/* SPDX-License-Identifier: Apache-2.0
 *
 * The reader of traces as a C library, libpenstock_trace.so: tables as columns in memory of the
 * caller, for Python (python/penstock, by ctypes) and whoever else can call C. Nothing here prints,
 * exits, reads the environment or lets an exception out.
 *
 * Threads: a trace may be read from several at once; it is closed when none uses it.
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

/* Columns, each NULL (not wanted) or with room for what the function's contract says. Times are
 * CLOCK_MONOTONIC nanoseconds; -1 for what is not known. Names and objects are ids of texts,
 * threads and processes count from 0 in the order of penstock_trace_about(). */
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
 * callable that is not Python's, or a line of the function that is its caller. Times are without
 * what following cost. */
typedef struct PenstockFunctions {
  size_t size;
  int64_t* start;     /* of the unit */
  int64_t* unit_time; /* of the whole unit */
  int64_t* sample;
  int64_t* batch;
  int64_t* own;    /* in no other node */
  int64_t* total;  /* in all its calls, with what they called */
  uint64_t* calls; /* of a line, how often it was entered */
  uint32_t* unit;  /* counts the followed units of the trace from 0, in the order of their starts */
  uint32_t* function;
  uint32_t* file; /* the text of its id is empty where there is none */
  uint32_t* line; /* 0: none */
  uint32_t* thread;
  uint32_t* process;
  int32_t* node;   /* counts the nodes of its unit from 0, callers first */
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
  uint64_t functions; /* at most so many rows: those whose unit or caller is lost do not come */
} PenstockCounts;

int penstock_trace_abi(void);

/* What went wrong in the last call of this thread that failed: one line, valid until the next. */
const char* penstock_trace_message(void);

/* Opens a packed trace or a recording. 0, or not: see the message, which names the file. */
int penstock_trace_open(const char* path, PenstockTrace** trace);
void penstock_trace_close(PenstockTrace* trace);

void penstock_trace_counts(const PenstockTrace* trace, PenstockCounts* counts);

/* Losses, facts, processes and threads as JSON, one object a line: traces/export.h. Valid as long
 * as the trace. NULL: no memory. */
const char* penstock_trace_about(PenstockTrace* trace);

/* The names of stages, of types of events and of kinds of calls by number; NULL above the last and
 * where a number has none. */
const char* penstock_trace_stage(uint32_t stage);
const char* penstock_trace_event(uint32_t type);
const char* penstock_trace_call(uint32_t kind);

/* Fills the columns with the spans whose stage is in `stages` (bit 1 << stage), by thread, then by
 * start. Room: counts.spans each; pages that are not needed are not touched for long, so that
 * memory from an anonymous mapping costs what is filled. Returns how many, or -1.
 * Cost: all cores; each block of the trace is decoded once. */
int64_t penstock_trace_spans(const PenstockTrace* trace, uint64_t stages, const PenstockSpans* out);

/* All of them, in the order of time. Room: counts.events, counts.counters. */
int64_t penstock_trace_events(const PenstockTrace* trace, const PenstockEvents* out);
int64_t penstock_trace_counters(const PenstockTrace* trace, const PenstockCounters* out);

/* The followed calls of the units whose stage is in `stages` (bit 1 << stage), by unit, then by
 * node. Room: counts.functions each. Returns how many, or -1. */
int64_t penstock_trace_functions(const PenstockTrace* trace, uint64_t stages,
                                 const PenstockFunctions* out);

/* The texts of `count` ids, one behind the other, without zeros; ends[i] is the end of text i.
 * Returns the bytes of all; where that is above `room` nothing is written to `text`. */
int64_t penstock_trace_texts(const PenstockTrace* trace, const uint32_t* ids, size_t count,
                             uint64_t* ends, char* text, size_t room);

#ifdef __cplusplus
}
#endif
