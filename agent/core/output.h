// SPDX-License-Identifier: Apache-2.0
//
// The file of a run without a collector. It is written with pwrite() and never mapped, and no
// descriptor of it stays open. So a program goes on if somebody cuts, removes or replaces the file.
// Each use opens the file by name, and writes only if the file belongs to this user and is still
// the one that the run made.
// Threads: any; CreateOutput() and RememberOutput() from one thread at a time. errno is kept.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "traces/wire.h"

namespace penstock::agent {

// What LookAtOutput() found at a path.
struct OutputLook {
  enum Kind { kAbsent, kOfThisRun, kOther } kind;
  int fd;       // kOfThisRun: open for reading and writing, to be closed by CloseOutput(); else -1
  int segment;  // number of the shared segment of the recording; -1: none
  bool sealed;
};
// `run`: the id of the run, as in FileHeader::uuid[0].
OutputLook LookAtOutput(const char* path, uint64_t run);

// Creates `path` with the contents of `header`. The file appears complete or not at all. Returns 0
// or a negative errno; -EEXIST: the name is taken. With `replace`, it replaces an earlier recording
// or trace of this user; -EEXIST then means that `path` is not such a file.
long CreateOutput(const char* path, const wire::FileHeader* header, bool replace);

// Makes `fd`, which is open at `path`, the file that OpenOutput() opens. CreateOutput() does this
// itself. Only the first two calls have an effect.
void RememberOutput(const char* path, uint64_t run, int fd);
// Opens the remembered file. Negative: it is gone, cannot be opened, or is no longer the file of
// this run.
int OpenOutput();
void CloseOutput(int fd);

// Locks the file; waits about 0.2 s at most for the lock. False: another descriptor still has the
// lock, perhaps one of this process. Also true if the file system has no locks.
bool LockOutput(int fd);
void UnlockOutput(int fd);

// Allocates disk space for the chunks [from, to). Without fallocate() it only extends the file.
// False: that failed, for example because the disk is full or a quota or size limit is reached.
bool ReserveChunks(int fd, uint32_t from, uint32_t to);
// Writes `chunk` (kChunkSize bytes) to its place in the file. Its thread may add records meanwhile.
// False: not all of it was written.
bool WriteChunk(int fd, const wire::ChunkHeader* chunk);
// Writes the header up to its first unused process slot.
bool WriteHeader(int fd, const wire::FileHeader* header);
bool ReadHeader(int fd, wire::FileHeader* header);
// Truncates the file after its first `chunks` chunks.
void TrimOutput(int fd, uint32_t chunks);

}  // namespace penstock::agent
