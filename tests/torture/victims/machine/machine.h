// SPDX-License-Identifier: Apache-2.0
//
// A victim that does what a program of a few lines tells it (tests/torture/generate.py writes
// them). It is built for several C libraries, therefore plain C. What its calls returned it notes
// in a log that outlives any end of it: shared memory, whose own system calls pass no hook.
#pragma once

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
  kMaxOps = 4096,
  kMaxArguments = 6,
  kMaxBlocks = 64,
  kSlots = 256,     // descriptors and streams that a program names
  kFiles = 16,      // of the data set
  kCells = 64,      // 0: data, 16: made by the program, 32 and 48: mappings of those
  kMaxRows = 1024,  // processes, one more for each exec
  kMaxLanes = 4096,
  kTasks = 64,  // threads or children that a program names
  kBuffer = 1 << 16,
  kNoFile = -1,
};

// Of a process, handed on at exec.
enum {
  kUnseen = 1,    // the agent need not be in it: another C library, another user
  kVolatile = 2,  // killed at a moment that nobody knows
  kFirst = 4,     // the first of the run
  kAlien = 8,     // what it executes may not be let in: another user, a sandbox
};

// Bytes of one file, of one process.
struct Cell {
  uint64_t noted;    // returned by calls, while the run's first process was not at its end
  uint64_t late;     // returned after that
  uint64_t pending;  // the most that calls which have not returned can return
  uint64_t perhaps;  // returned by calls that the agent need not see
};

struct Row {
  uint32_t pid;
  uint32_t unseen;  // the agent is not in this process: all of it is `perhaps`
  struct Cell cells[kCells];
};

// The results of one thread of control, folded in order. Its key says how it came to be.
struct Lane {
  uint64_t key;
  uint64_t hash;
  uint32_t count;
  uint32_t volatile_;  // how far it gets depends on the moment of a signal
  uint64_t started;    // threads and children that it started
};

struct Log {
  uint32_t rows_used;
  uint32_t lanes_used;
  uint32_t ending;  // the first process is at its end, or is about to be killed
  uint32_t reserved;
  struct Row rows[kMaxRows];
  struct Lane lanes[kMaxLanes];
};

struct Op;
typedef long Action(const struct Op* op);

struct Op {
  Action* action;
  const char* name;
  int loose;  // "~": the result is not folded
  int count;
  long number[kMaxArguments];
  const char* word[kMaxArguments];
};

struct Name {
  const char* name;
  Action* action;
};
struct Number {
  const char* name;
  long value;
};

struct Slot {
  int fd;
  int file;  // cell, or kNoFile
  FILE* stream;
};

extern struct Log* g_log;
extern struct Row* g_row;
extern struct Slot g_slots[kSlots];
extern char g_folder[512];  // of the data set, what is made, and the builds of this program
extern char g_self[512];    // the program's text
extern char g_log_path[512];
extern int g_flags;  // kUnseen...
extern int g_made_threads;
extern __thread struct Lane* t_lane;
extern __thread int t_handling;  // a signal handler is at work on this thread
extern __thread sigjmp_buf* t_try;

extern const struct Name kFileActions[];
extern const struct Name kTaskActions[];
extern const struct Name kSignalActions[];
extern const struct Name kDoorActions[];
extern const struct Number kSignals[];

// main.c
void RunBlock(long block);
void Fold(long value);
struct Lane* LaneOf(uint64_t key, int is_volatile);
uint64_t Mix(uint64_t a, uint64_t b);
void NewRow(int flags);
uint64_t NewKey(void);  // for a thread or child of this thread
int Has(const struct Op* op, const char* word);
long Look(const struct Number* table, const char* word);
char* Buffer(void);  // of this thread or handler
_Noreturn void Wrong(const char* what);
void FoldBytes(const struct Op* op, const char* bytes, long count);
void AtTheEnd(void);  // of the first process: what is read from here on is late

// files.c: what a call may return at most, and what it has returned.
void Expect(int file, size_t most);
void Got(int file, size_t most, long got, int perhaps);
long OpenAll(void);

static inline long Result(long value, int error) {
  return value >= 0 ? value : -error;
}
