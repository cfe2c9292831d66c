// SPDX-License-Identifier: Apache-2.0
//
// Recording without a collector. The processes of a run share a segment of chunks, as under a
// collector; whoever has filled a chunk writes it to its place in the output file and goes on in
// the same memory. What is left in the segment is written by the last process that ends by itself;
// a reader of the file joins what a killed one left (traces/recording/join_segment.h).
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "traces/wire.h"

namespace penstock::agent {

struct ThreadState;

// Joins the recording of this run, or makes it: g_config.out, or, where that name belongs to
// anything else, the same with the run's time and process in it. nullptr: not possible (no
// permission, disk full, no shared memory); nothing is left behind. `size`: of what is mapped.
// Requires: the caller has the lock of EnsureProcess().
wire::FileHeader* AttachLinear(size_t* size);

// Takes a place in the file for a chunk. False: budget or disk exhausted.
bool TakePlace(uint32_t* index);

// Writes the full chunk of a thread to the file. False: it cannot be written now.
bool WriteOut(wire::ChunkHeader* chunk);

// Frees chunks whose threads have died, after writing them out.
void ReclaimDeadChunks();

// The owner of a chunk is done with it: it is written out and freed, or left for somebody else to
// write.
void RetireChunk(wire::ChunkHeader* chunk);

// This process ends: writes out what its threads have in hand, and the last process of the run
// finishes the file: nothing is recorded any more then.
void FinishLinear();

// Records were dropped after FinishLinear(): says so in the file.
void NoteLateLoss();

// The name that the run with this name ("PID-SECONDS.NANOSECONDS@BOOT") uses in place of `out`:
// STEM.YYYYMMDD-HHMMSS-PID.EXT, in UTC. False: it does not fit.
bool NameBeside(const char* out, const char* run, char* name, size_t capacity);

}  // namespace penstock::agent
