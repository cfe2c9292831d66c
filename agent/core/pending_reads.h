// SPDX-License-Identifier: Apache-2.0
//
// The reads of a thread that are not yet records: all reads of one descriptor for one sample become
// one span. A new span begins after 64 MiB, and on a socket also after a pause of 20 ms. Until a
// span is written, its reads lie in the header of the thread's chunk, in shared memory
// (wire::PendingRead), so that a reader finds them however the thread ends.
// Threads: each has its own, even if several read one descriptor.
#pragma once

#include <stdint.h>

#include "agent/core/fd_table.h"
#include "agent/core/recorder.h"

namespace penstock::agent {

struct ThreadState;

// Counts a read of a dataset file or socket that returned `bytes` > 0, between `start` and `end`
// (ticks).
void CountRead(const Descriptor& from, uint64_t start, uint64_t end, uint64_t bytes);

// Whether the calling thread has a pending read of `fd`. `serial` (Descriptor::serial)
// distinguishes the file from others that had the same descriptor number.
bool HasPending(int fd, uint32_t serial);
// Writes that read.
void FlushReadsOf(int fd, uint32_t serial);
// Writes all pending reads of the calling thread, whose state is `state`.
void FlushReads(ThreadState* state);

// One read call on `fd`: what a hook does before and after the real function.
class ReadCall {
 public:
  explicit ReadCall(int fd);
  // `bytes`: what the call returned; <= 0: nothing arrived.
  void Done(int64_t bytes);
  // The same for recv() and its like. The kernel does not count their bytes in rchar. Hooked bytes
  // are compared with rchar, so these bytes are not added to them.
  void DoneSocket(int64_t bytes);

 private:
  void Count(int64_t bytes);

  Descriptor from_;
  bool on_;
  bool traced_ = false;
  bool program_writes_ = false;  // the program itself writes this read's span
  uint64_t start_ = 0;
  Token token_;
};

}  // namespace penstock::agent
