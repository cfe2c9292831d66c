// SPDX-License-Identifier: Apache-2.0
//
// Threads of a Python program that wait for another thread or process: for a lock (queues, futures,
// conditions and events of Python all wait for one), for a pipe, for descriptors. Who waits for
// whom tells what holds back a program that no loader hook knows. Threads: each tells of itself.
#pragma once

#include <stdint.h>

namespace penstock::agent {

enum class BlockedOn : uint8_t { kLock, kPipe, kPoll };

// The same for a call on descriptor `fd`, if that is a pipe or a socket of this host.
void OnBlockedWrite(int fd, uint64_t start);

// Whether this is a process of Python at all: others are not watched.
bool WatchesBlocks();

// A call that may block, which began at `start` (ticks), is over. Writes a span where it took 20 us
// or more, nothing else is open on the thread, and no loader has told what the process is in the
// run. errno is kept. Cost: two clock reads; a span where one is written.
void OnBlocked(BlockedOn what, uint64_t start);

}  // namespace penstock::agent
