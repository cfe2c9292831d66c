// SPDX-License-Identifier: Apache-2.0
//
// The chunks of a recording without a collector: when they are written to the file, and when they
// are free for other threads. A thread that has filled its chunk writes it to its place and goes on
// in the same memory; chunks of dead threads are written by whoever needs one. Threads: any.
#pragma once

#include <stdint.h>

#include "traces/wire.h"

namespace penstock::agent {

// Writes the full chunk of a thread to the file. False if it cannot be written now.
bool WriteOut(wire::ChunkHeader* chunk);

// Writes out and frees chunks whose threads have died, or have handed them over unwritten.
void ReclaimDeadChunks();

// To be called when the owner of a chunk is done with it: writes it out and frees it, or leaves it
// for somebody else to write.
void RetireChunk(wire::ChunkHeader* chunk);

// The chunk number `i` of the segment; nullptr where this process has given it back.
wire::ChunkHeader* ChunkAt(uint32_t i);

// Whether a thread has put something into the chunk, which may be nullptr.
bool HoldsSomething(const wire::ChunkHeader* chunk);

// Writes a chunk to its place. Its header then tells readers that it was written; the chunk is
// counted only the first time.
bool WriteOutTo(int fd, wire::ChunkHeader* chunk);

}  // namespace penstock::agent
