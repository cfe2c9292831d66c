// SPDX-License-Identifier: Apache-2.0
//
// The chunks of a recording without a collector: when they are written to the file, and when they
// are free for other threads. A thread that has filled its chunk writes it to its place and goes on
// in the same memory; chunks of dead threads are written by any thread that needs a chunk. Threads:
// any.
#pragma once

#include <stdint.h>

#include "traces/wire.h"

namespace penstock::agent {

// Opens the file and writes the chunk to it, then the file's header. False if the chunk cannot be
// written now.
bool WriteOut(wire::ChunkHeader* chunk);

// Writes out and frees the chunks of dead threads, and those that RetireChunk() could not write.
// Frees chunks whose claimers died before they owned them.
void ReclaimDeadChunks();

// To be called when nobody will fill the chunk any more. Writes it out and frees it. If it cannot
// be written now, or if another thread writes it for 100 ms, leaves it for ReclaimDeadChunks().
void RetireChunk(wire::ChunkHeader* chunk);

// Chunk `i` of the segment; nullptr if this process has unmapped it.
wire::ChunkHeader* ChunkAt(uint32_t i);

// Whether a thread has taken the chunk and nobody has freed it since. `chunk` may be nullptr.
bool IsInUse(const wire::ChunkHeader* chunk);

// Writes a chunk to its place in the open file, unless its records are there already and its thread
// lives. The chunk's header then tells readers that it was written. Repeated writing to the same
// place counts once in FileHeader::written_chunks.
bool WriteOutTo(int fd, wire::ChunkHeader* chunk);
// The same for a chunk that another thread may be retiring or reclaiming at this moment: then that
// thread writes it. Without this, the header of a chunk that was just freed would overwrite the
// records in the file.
void WriteUnlessRetired(int fd, wire::ChunkHeader* chunk);

}  // namespace penstock::agent
