// SPDX-License-Identifier: Apache-2.0
//
// Records when a thread of a Python program waits for another thread or process: for a lock
// (Python's queues, futures, conditions and events all wait for one), a pipe or descriptors. If the
// agent knows no loader in the program, these waits show what holds it back. Threads: each records
// its own waits.
#pragma once

#include <stdint.h>

namespace penstock::agent {

enum class BlockedOn : uint8_t { kLock, kPipe, kPoll };

// Whether this is a Python process. Waits of other processes are not recorded.
bool WatchesBlocks();

// Tells that a call that may block, and that began at `start` (ticks), has returned. Writes a span
// if the call took 20 us or more, no other span is open on the thread, and no loader hook has given
// the process a role. errno is kept. Cost: a clock read, and a span where one is written.
//
// A thread that has recorded nothing yet begins with its eighth such wait, or with one of 100 ms
// (less where ticks are shorter than nanoseconds). Only the main thread begins with a kPoll.
//
// With a collector, such a wait may make the process attach. If attaching changes the clock, no
// wait is written whose `start` was read before.
void OnBlocked(BlockedOn what, uint64_t start);
// The same for a call that wrote to `fd`: a kPipe if `fd` is a pipe or a socket of this host, else
// nothing.
void OnBlockedWrite(int fd, uint64_t start);

}  // namespace penstock::agent
