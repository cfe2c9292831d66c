// SPDX-License-Identifier: Apache-2.0
//
// What each file descriptor of the process is. Descriptors are classified at their first read, so
// it does not matter how they came to be; one that was opened by an absolute path is known by that
// path, as long as device and inode say that it still is that file.
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
  kPipe = 4,     // pipes and sockets of this host: from another thread or process
};

// What a number stood for at one moment. It stands for something else when `serial` has changed.
struct Descriptor {
  int fd = -1;
  uint32_t serial = 0;
  FdKind kind = FdKind::kUnknown;
  uint64_t object = 0;  // id of the path, 0 if unknown
};

// Classifies `fd` at the first call after it was opened (fstat, and a readlink where open() was not
// given a name that says it). Where the calling thread has no reads of it pending, asks whether it
// is still the same file (fstat): programs close and open past us. errno is kept.
Descriptor Identify(int fd);

// A descriptor has just been opened (open, dup, accept): forget what the number meant before.
// `path`: what open() was given, or nullptr. `start`: ticks before the call, 0 when not recording.
// `may_use_copy`: it only reads, and nobody has used it yet: a data file may be read from its copy
// (agent/core/staging.h), under the name of the original.
void OnOpen(int fd, uint64_t start, const char* path, bool may_use_copy = false);
// It is about to be closed: write what the calling thread has pending, and forget it.
void OnClose(int fd);
void OnCloseRange(unsigned first, unsigned last);
// It is to be looked at afresh at the next read.
void LookAgain(int fd);

// A dataset file was mapped.
void OnMap(const Descriptor& from, uint64_t start, uint64_t end, uint64_t bytes);

// When the call began that opened `fd`, and how long it took (ticks): told once. 0: not known.
uint64_t TakeOpened(int fd, uint64_t* busy);
// Whether no read of `fd` was lost since it was opened; from now on one was.
bool IsFirstLoss(int fd);

}  // namespace penstock::agent
