// SPDX-License-Identifier: Apache-2.0
//
// What each file descriptor of the process is, and the reads from it that are not yet written.
// A read span is one object arriving: all reads of one descriptor for one sample, coalesced.
// Descriptors are classified at their first read, so it does not matter how they came to be; one
// that was opened by an absolute path is known by that path.
// Threads: any; a descriptor read by several threads at once yields one span per read.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/recorder.h"

namespace penstock::agent {

struct ThreadState;

enum class FdKind : uint32_t {
  kUnknown = 0,
  kOther = 1,  // pipes, devices, system, library, source and cache files
  kDataset = 2,
  kNetwork = 3,  // internet sockets
};

// Classifies `fd` at the first call after it was opened (fstat, and a readlink where open() was not
// given a name that says it). errno is kept.
FdKind KindOf(int fd);

// A descriptor has just been opened (open, dup, accept): forget what the number meant before.
// `path`: what open() was given, or nullptr. `start`: ticks before the call, 0 when not recording.
void OnOpen(int fd, uint64_t start, const char* path);
// It is about to be closed: write what is pending.
void OnClose(int fd);
void OnCloseRange(unsigned first, unsigned last);

// One read call on a dataset file or socket that got `bytes` between `start` and `end` (ticks).
void OnRead(int fd, FdKind kind, uint64_t start, uint64_t end, uint64_t bytes);
// A dataset file was mapped.
void OnMap(int fd, uint64_t start, uint64_t end, uint64_t bytes);

// The id of the descriptor's path, 0 if unknown.
uint64_t ObjectOf(int fd);

// Writes the pending reads of the calling thread.
void FlushDirtyFiles(ThreadState* state);

// A read call on `fd`: what a hook needs before and after the real function.
class ReadCall {
 public:
  explicit ReadCall(int fd);
  // `bytes`: what the call returned; <= 0: nothing arrived.
  void Done(int64_t bytes);
  // Bytes a socket call got that the kernel does not count as rchar (recv and its kin).
  void DoneSocket(int64_t bytes);

 private:
  int fd_;
  FdKind kind_ = FdKind::kUnknown;
  bool on_;
  bool spoken_for_ = false;  // the program writes the span
  uint64_t start_ = 0;
  Token token_;
};

}  // namespace penstock::agent
