// SPDX-License-Identifier: Apache-2.0
//
// Records when a thread of a Python program waits for another thread or process: for a lock
// (Python's queues, futures, conditions and events all wait for one), a pipe or descriptors. Where
// no loader is known, these waits show what holds the program back. Threads: each records its own
// waits.
#pragma once

#include <stdint.h>

namespace penstock::agent {

enum class BlockedOn : uint8_t { kLock, kPipe, kPoll };

// OnBlocked() for a call on descriptor `fd`, if that is a pipe or a socket of this host.
void OnBlockedWrite(int fd, uint64_t start);

// Whether this is a process of Python: others are not watched.
bool WatchesBlocks();

// A call that may block, and that began at `start` (ticks), has returned. Writes a span if it took
// 20 us or more, no other span is open on the thread, and no loader hook has given the process a
// role. errno is kept. Cost: two clock reads, and a span where one is written.
void OnBlocked(BlockedOn what, uint64_t start);

}  // namespace penstock::agent
