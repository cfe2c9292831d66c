// SPDX-License-Identifier: Apache-2.0
//
// The file of a run without a collector. It is written with pwrite() and never mapped, and no
// descriptor of it stays open: whatever happens to the file can stop no program. It is opened by
// name, and written only if it is this user's and still the file that the run has made.
// Threads: any. errno is kept.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "traces/wire.h"

namespace penstock::agent {

// What lies at a name.
struct OutputLook {
  enum Kind { kAbsent, kOfThisRun, kOther } kind;
  int fd;       // open for reading and writing if kOfThisRun, else -1; for CloseOutput()
  int segment;  // of the recording, -1: none
  bool sealed;
};
OutputLook LookAtOutput(const char* path, uint64_t run);

// Makes `path` with the contents of `header`; nobody ever sees a part of it. 0, or a negative
// errno: -EEXIST if something has that name by now. `replace`: an earlier recording or trace at
// that name is replaced; nothing else ever is.
long CreateOutput(const char* path, const wire::FileHeader* header, bool replace);

// The file that was looked at or created is the one that the functions below mean. At most twice.
void RememberOutput(const char* path, uint64_t run, int fd);
// -1: it is not there any more, cannot be opened, or somebody has made something else of it.
int OpenOutput();
void CloseOutput(int fd);

// Waits for the lock of the file for at most 0.2 s. False: somebody else has it.
bool LockOutput(int fd);
void UnlockOutput(int fd);

// Backs chunks `from` to `to` with blocks. False: no room, budget or limit.
bool ReserveChunks(int fd, uint32_t from, uint32_t to);
// Writes a chunk to its place. `chunk`: kChunkSize bytes, may grow meanwhile. False: not all of it.
bool WriteChunk(int fd, const wire::ChunkHeader* chunk);
// Writes what has changed of the header: all but unused process slots.
bool WriteHeader(int fd, const wire::FileHeader* header);
bool ReadHeader(int fd, wire::FileHeader* header);
// Cuts the file behind its last chunk.
void TrimOutput(int fd, uint32_t chunks);

}  // namespace penstock::agent
