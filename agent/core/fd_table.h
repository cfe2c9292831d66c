// SPDX-License-Identifier: Apache-2.0
//
// What each file descriptor of the process is. A descriptor is classified at its first read, so it
// does not matter how it came to be. If the path given to open() shows which file it is, the
// descriptor keeps that name while its device and inode stay those of the file.
// Threads: any.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/core/recorder.h"

namespace penstock::agent {

enum class FdKind : uint32_t {
  kUnknown = 0,
  kOther = 1,  // devices, system, library, source and cache files
  kDataset = 2,
  kNetwork = 3,  // internet sockets
  kPipe = 4,     // pipes and sockets of this host: the other end is a thread or process
};

// What a descriptor number stood for at one moment. Once `serial` has changed, the number stands
// for something else.
struct Descriptor {
  int fd = -1;
  uint32_t serial = 0;
  FdKind kind = FdKind::kUnknown;
  uint64_t object = 0;  // id of the path, 0 if unknown
};

// Returns what `fd` is. The first call after an open classifies it (fstat, and a readlink if the
// path given to open() does not show the file). For a dataset file or an internet socket, later
// calls check with fstat that `fd` is still the same one, because programs may close and open it in
// ways that no hook sees. They do not check while the calling thread has pending reads of `fd`.
// errno is kept.
Descriptor Identify(int fd);

// To be called when a descriptor was opened (open, dup, accept): forgets what the number meant
// before. `path`: what open() was given, or nullptr. `start`: ticks before the call, 0 when not
// recording. `may_use_copy`: the descriptor only reads and is still unused, so a data file may be
// read from its copy (agent/core/staging.h), under the name of the original.
void OnOpen(int fd, uint64_t start, const char* path, bool may_use_copy = false);
// To be called after OnOpen() of the descriptor `to`, which dup made from `from`. Gives `to` the
// same name: that of the original, even if the file is read from its copy.
void OnDuplicate(int from, int to);
// To be called before a descriptor is closed: writes the calling thread's pending reads of it, and
// forgets it.
void OnClose(int fd);
void OnCloseRange(unsigned first, unsigned last);
// Makes the next read classify `fd` again.
void LookAgain(int fd);

// Records that a dataset file was mapped.
void OnMap(const Descriptor& from, uint64_t start, uint64_t end, uint64_t bytes);

// Returns when the call that opened `fd` began, and sets `busy` to how long it took (ticks).
// Returns 0 if that is not known or was asked before.
uint64_t TakeOpened(int fd, uint64_t* busy);
// Notes that a read of `fd` was lost. True if it is the first one since `fd` was opened.
bool IsFirstLoss(int fd);

}  // namespace penstock::agent
