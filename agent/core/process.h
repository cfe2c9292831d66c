// SPDX-License-Identifier: Apache-2.0
//
// The agent's process-wide state: configuration from the environment, the attached recording, the
// process's slot in it, and the fork guard. Attaching is lazy: a process that never touches a
// dataset maps nothing and leaves no mark.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "traces/wire.h"

namespace penstock::agent {

// Set once by the constructor, read-only afterwards.
struct Config {
  bool on;             // a recording is asked for
  char agent[4096];    // absolute path of the agent
  char python[4096];   // absolute path of the directory with sitecustomize.py
  char arena[4096];    // PENSTOCK_ARENA: ring of a collector; "" = none
  char out[4096];      // PENSTOCK_OUT: linear recording
  char run[40];        // PENSTOCK_RUN: identifies the run, so a stale file is not joined
  char data[4096];     // PENSTOCK_DATA: ':'-separated prefixes that are datasets
  char stage[256];     // PENSTOCK_STAGE: folder with copies of data files; "" = none
  uint64_t max_bytes;  // budget of a linear recording
  uint64_t batches;    // PENSTOCK_BATCHES, 0 = no limit
  bool force;          // PENSTOCK_FORCE: a trace that has the name of the output is replaced
  int32_t rank, local_rank, world_size;
  int32_t local_size, node;  // ranks of this host, and its number; -1: not known
  const char* launcher;      // agent/core/rank_env.h
  bool monotonic;            // PENSTOCK_CLOCK=monotonic
  bool no_command;           // PENSTOCK_NO_COMMAND=1: no command lines are written
};
extern Config g_config;

// Counters of the process. Before a slot is claimed they are process-local.
struct Counters {
  uint64_t hooked;
  uint64_t dataset;
  uint64_t network;
  uint64_t mapped;
  uint64_t lost;  // of files
  uint64_t claimed;
  uint64_t network_lost;
  uint64_t network_claimed;
  uint32_t features;
  uint32_t misses;
};
extern Counters g_local;

extern wire::FileHeader* g_header;  // nullptr: not attached
extern wire::ProcessSlot* g_slot;   // nullptr: none claimed (yet)
extern uint32_t g_slot_index;
extern bool g_tsc;  // ticks are TSC
// The C library's, which needs no system call, past any library that tells another time.
extern int (*g_clock_gettime)(clockid_t, struct timespec*);
extern uint64_t g_ns_per_tick;      // times 2^20
extern uint64_t g_cpu_reuse_ticks;  // 20 us

// The fork guard: *g_guard is the process token, non-zero; a forked child finds 0 there.
extern volatile uint64_t* g_guard;
// *g_guard, for a thread that may not have seen it before and goes on to use what the process has.
inline uint64_t LoadToken() {
  return __atomic_load_n(g_guard, __ATOMIC_ACQUIRE);
}

// This process found no slot: it writes nothing, and what it would have written is counted.
extern bool g_without_slot;

// Points at the word that says whether to record: a static 0 or 1, or FileHeader::recording.
extern const uint32_t* g_recording;

// Maps the recording if it is not mapped yet and makes sure this process (it may be a forked
// child) has a token and a slot. False: cannot record; recording is off for this process then.
// `token`: the process token to note in the calling thread's state.
// Cost: a load when all is done already.
bool EnsureProcess(uint64_t* token);

// Takes a free slot and fills it. False: there is none. For EnsureProcess(), under its lock.
bool ClaimSlot();

// Ends the recording of this process and of those that it will fork; they make no system call of
// ours any more, and look at no clock. `feature`: why, for the report.
void StandDown(uint32_t feature);

// *g_guard of a process that has ended its recording has this bit, and no token has it.
inline constexpr uint64_t kEnded = uint64_t{1} << 63;
// Ends the recording of this process: it counts as lost what it and the children that it still
// forks read.
void MarkEnded();
// Takes that back: the recording goes on.
void UnmarkEnded();

// The process ends by itself: the CPU time that it used and what it has in hand are written out.
// Where it was the last one of the run, what its other threads record from then on is counted as
// lost. Makes raw system calls only; in a vfork child it does nothing.
void EndProcess();

// The caller is a child that shares the memory of this process (vfork, CLONE_VM).
bool RunsInMemoryOfParent();

// The process that g_local counts for is this one; called by the constructor.
void NoteProcess();

// Writes the command line, once per process; called with the first chunk.
void AnnounceProcess();

void AddHooked(uint64_t bytes);
// Bytes that a read of a dataset file or socket returned: exactly one of these three for each.
void AddRead(bool network, uint64_t bytes);     // in a span, or pending
void AddLost(bool network, uint64_t bytes);     // in none
void AddClaimed(bool network, uint64_t bytes);  // in one that the program writes
// What was pending could not be written.
void MoveToLost(bool network, uint64_t bytes);
void AddMapped(uint64_t bytes);
void SetFeature(uint32_t feature);
void SetRole(uint32_t role, int32_t worker_id);
void CountDropped(uint64_t records);
// One more batch delivered; ends the recording at the limit.
void CountBatch();

}  // namespace penstock::agent
