// SPDX-License-Identifier: Apache-2.0
//
// The agent's process-wide state: configuration from the environment, the attached recording, the
// process's slot in it, and the fork guard. A process attaches at its first event: one that has
// none maps nothing and leaves no mark.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "traces/wire.h"

namespace penstock::agent {

// Set by the constructor. Afterwards only StandDown() changes it: it clears `on`.
struct Config {
  bool on;             // a recording is asked for
  char agent[4096];    // absolute path of the agent
  char python[4096];   // absolute path of the directory with sitecustomize.py
  char arena[4096];    // PENSTOCK_ARENA: ring of a collector; "" = none
  char out[4096];      // PENSTOCK_OUT: recording without a collector
  char run[40];        // PENSTOCK_RUN: identifies the run, so that a stale file is not joined
  char data[4096];     // PENSTOCK_DATA: ':'-separated prefixes that are datasets
  char stage[256];     // PENSTOCK_STAGE: folder with copies of data files; "" = none
  uint64_t max_bytes;  // budget of a recording without a collector
  uint64_t batches;    // PENSTOCK_BATCHES, 0 = no limit
  bool force;          // PENSTOCK_FORCE: replace a trace of that name
  int32_t rank, local_rank, world_size;
  int32_t local_size, node;  // ranks on this host, number of the host; -1: not known
  const char* launcher;      // agent/core/rank_env.h
  bool monotonic;            // PENSTOCK_CLOCK=monotonic
  bool no_command;           // PENSTOCK_NO_COMMAND=1: no command lines are written
};
extern Config g_config;

// Counters of the process, for the time before it has a slot.
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
extern bool g_tsc;              // ticks are TSC
extern uint64_t g_attached_at;  // ticks when the process attached; Now() counted nanoseconds before
// The C library's clock_gettime(), even if a preloaded library replaces it to tell another time. It
// needs no system call.
extern int (*g_clock_gettime)(clockid_t, struct timespec*);
extern uint64_t g_ns_per_tick;      // times 2^20
extern uint64_t g_cpu_reuse_ticks;  // 20 us

// The fork guard: *g_guard is the process token. It is 0 before the process attaches, and again in
// a forked child.
extern volatile uint64_t* g_guard;
// Reads *g_guard so that the thread also sees what the process made before it set the token.
inline uint64_t LoadToken() {
  return __atomic_load_n(g_guard, __ATOMIC_ACQUIRE);
}

// True if this process found no slot or has ended its recording. It then writes nothing, and counts
// what it would have written.
extern bool g_without_slot;

// Points at the word that says whether to record: a static 0 or 1, or FileHeader::recording.
extern const uint32_t* g_recording;

// Maps the recording if it is not mapped yet. Makes sure that this process (perhaps a forked child)
// has a token and a slot. False if the process cannot record, either for the moment (a signal
// handler interrupted this function, or another thread takes long in it) or for good. `token` is
// set to the process token, which the caller notes in its thread's state, unless it has the bit
// kEnded.
// Cost: one load once all is done.
bool EnsureProcess(uint64_t* token);

// Takes a free slot and fills it. False if there is none. For EnsureProcess(), under its lock.
bool ClaimSlot();

// Ends the recording of this process and of those that it will fork: from then on the agent makes
// no system call in them and reads no clock. `feature`: the reason, for the report.
void StandDown(uint32_t feature);

// This bit is set in *g_guard once the process has ended its recording. No thread's token has this
// bit, so every thread finds its token void.
inline constexpr uint64_t kEnded = uint64_t{1} << 63;
// Ends the recording of this process. Later reads of the process, and of children that it forks
// later, are counted as lost.
void MarkEnded();
// Undoes MarkEnded(): the recording goes on.
void UnmarkEnded();

// To be called when the process ends by itself: writes its CPU time and, without a collector, the
// chunks of its threads. In the last process of a run without a collector, later records of other
// threads are counted as lost. Makes raw system calls only, and does nothing in a vfork child.
void EndProcess();

// Whether the caller is a child that shares the memory of its parent (vfork, CLONE_VM). Such a
// child is found only if the parent has attached.
bool RunsInMemoryOfParent();

// Notes that g_local counts for this process. Called by the constructor.
void NoteProcess();

// Writes the command line and the facts of the rank, once per process. Called with its first chunk.
void AnnounceProcess();

void AddHooked(uint64_t bytes);
// Each counts bytes that a read of a dataset file or socket returned. A read calls exactly one of
// the three.
void AddRead(bool network, uint64_t bytes);     // in a span or a pending read
void AddLost(bool network, uint64_t bytes);     // in no span
void AddClaimed(bool network, uint64_t bytes);  // in a span that the program writes
// Counts bytes as lost that AddRead() had counted: the pending read could not be written.
void MoveToLost(bool network, uint64_t bytes);
void AddMapped(uint64_t bytes);
void SetFeature(uint32_t feature);
void SetRole(uint32_t role, int32_t worker_id);
void CountDropped(uint64_t records);
// Counts one more delivered batch. Ends the recording at the limit.
void CountBatch();

}  // namespace penstock::agent
