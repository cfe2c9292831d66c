// SPDX-License-Identifier: Apache-2.0
//
// Recording without a collector. The processes of a run share a segment of chunks, as under a
// collector. A thread that has filled its chunk writes it to its place in the output file and goes
// on in the same memory. The last process that ends by itself writes the rest. If it is killed, a
// reader of the file joins what is in the segment (traces/recording/join_segment.h).
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "traces/wire.h"

namespace penstock::agent {

struct ThreadState;

// Joins the recording of this run, or makes it under the name g_config.out. If something else has
// that name, the file beside it is used (NameBeside()). nullptr if neither is possible (no
// permission, disk full, no shared memory); nothing is left behind then. `size`: bytes mapped.
// Requires: the caller has the lock of EnsureProcess().
wire::FileHeader* AttachLinear(size_t* size);

// Takes a place in the file for a chunk. False if the budget or the disk is exhausted.
bool TakePlace(uint32_t* index);

// Writes the full chunk of a thread to the file. False if it cannot be written now.
bool WriteOut(wire::ChunkHeader* chunk);

// Writes out and frees chunks whose threads have died, or have handed them over unwritten.
void ReclaimDeadChunks();

// To be called when the owner of a chunk is done with it: writes it out and frees it, or leaves it
// for somebody else to write.
void RetireChunk(wire::ChunkHeader* chunk);

// To be called when this process ends: writes out the chunks of its threads. In the last process of
// the run it also finishes the file, after which nothing is recorded.
void FinishLinear();

// To be called when records were dropped after FinishLinear(): writes their number to the file.
void NoteLateLoss();

// Makes the name that a run uses in place of `out`: STEM.YYYYMMDD-HHMMSS-PID.EXT, in UTC. `run`:
// "PID-SECONDS.NANOSECONDS@BOOT". False if it does not fit.
bool NameBeside(const char* out, const char* run, char* name, size_t capacity);

}  // namespace penstock::agent
