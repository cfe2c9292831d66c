// SPDX-License-Identifier: Apache-2.0
//
// The machine: a victim that runs a program of a few lines, which tests/torture/generate.py makes.
// It is plain C, since it is built for several C libraries. It notes the results of its calls in a
// log in shared memory. The log remains however the process ends, and no hook sees how it is
// written.
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
  kFiles = 16,      // files of the data set
  kCells = 64,      // from 0: data, 16: files made by the program, 32 and 48: mappings of both
  kMaxRows = 1024,  // one for each process, and one more for each exec
  kMaxLanes = 4096,
  kTasks = 64,  // threads or children that a program names
  kBuffer = 1 << 16,
  kNoFile = -1,
};

// Flags of a process. A program that it executes gets them too.
enum {
  kUnseen = 1,    // the agent may be missing: another C library, another user
  kVolatile = 2,  // killed at an unknown moment
  kFirst = 4,     // the first process of the run
  kAlien = 8,     // programs that it executes may be unrecorded: another user, a sandbox
};

// Bytes that one process has read of one file.
struct Cell {
  uint64_t noted;    // returned by calls before the first process was at its end
  uint64_t late;     // returned by calls after that
  uint64_t pending;  // upper bound of the bytes that calls under way can return
  uint64_t perhaps;  // returned by calls that the agent need not see
};

struct Row {
  uint32_t pid;
  uint32_t unseen;  // the agent may be missing from this process: its bytes count as `perhaps`
  struct Cell cells[kCells];
};

// The results of one thread or signal handler, hashed in their order. The key says which thread of
// which process it is, by how they were started.
struct Lane {
  uint64_t key;
  uint64_t hash;
  uint32_t count;
  uint32_t volatile_;  // the moment of a signal decides how far it gets
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
  int loose;  // "~": the result is not hashed into the lane
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
  int file;  // number of the Cell, or kNoFile
  FILE* stream;
};

extern struct Log* g_log;
extern struct Row* g_row;
extern struct Slot g_slots[kSlots];
extern char g_folder[512];  // has the data set, files that programs make, and builds of the machine
extern char g_self[512];    // the program's text
extern char g_log_path[512];
extern int g_flags;  // kUnseen...
extern int g_made_threads;
extern __thread struct Lane* t_lane;
extern __thread int t_handling;  // a signal handler runs on this thread
extern __thread sigjmp_buf* t_try;

extern const struct Name kFileActions[];
extern const struct Name kReadActions[];
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
uint64_t NewKey(void);  // key for a thread or child of this thread
int Has(const struct Op* op, const char* word);
long Look(const struct Number* table, const char* word);
char* Buffer(void);  // returns the buffer of this thread or handler
_Noreturn void Wrong(const char* what);
void FoldBytes(const struct Op* op, const char* bytes, long count);
void AtTheEnd(void);  // notes that the first process ends: later reads count as late

// reads.c. Expect() notes the most bytes that a call can return, Got() the bytes that it has
// returned.
void Expect(int file, size_t most);
void Got(int file, size_t most, long got, int perhaps);
long OpenAll(void);

// Returns the slot that an argument names.
static inline struct Slot* SlotAt(const struct Op* op, int argument) {
  return &g_slots[(unsigned long)op->number[argument] % kSlots];
}
static inline long Result(long value, int error) {
  return value >= 0 ? value : -error;
}
