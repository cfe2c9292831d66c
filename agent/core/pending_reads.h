// SPDX-License-Identifier: Apache-2.0
//
// The reads of a thread that are not yet records: a read span is one object arriving, all reads of
// one descriptor for one sample, coalesced. They lie in the header of the thread's chunk, in shared
// memory (wire::PendingRead), so that whatever ends the thread leaves them to the reader.
// Threads: each has its own, also of a descriptor that several of them read.
#pragma once

#include <stdint.h>

#include "agent/core/fd_table.h"
#include "agent/core/recorder.h"

namespace penstock::agent {

struct ThreadState;

// A read of a dataset file or socket that returned `bytes` > 0, between `start` and `end` (ticks).
void CountRead(const Descriptor& from, uint64_t start, uint64_t end, uint64_t bytes);

// Whether the calling thread has reads pending of what `fd` was when it had this `serial`.
bool HasPending(int fd, uint32_t serial);
// Writes those, if there are any.
void FlushReadsOf(int fd, uint32_t serial);
// Writes all of the calling thread, whose state is `state`.
void FlushReads(ThreadState* state);

// A read call on `fd`: what a hook needs before and after the real function.
class ReadCall {
 public:
  explicit ReadCall(int fd);
  // `bytes`: what the call returned; <= 0: nothing arrived.
  void Done(int64_t bytes);
  // Bytes a socket call got that the kernel does not count as rchar (recv and its kin).
  void DoneSocket(int64_t bytes);

 private:
  void Count(int64_t bytes);

  Descriptor from_;
  bool on_;
  bool traced_ = false;
  bool spoken_for_ = false;  // the program writes the span
  uint64_t start_ = 0;
  Token token_;
};

}  // namespace penstock::agent
