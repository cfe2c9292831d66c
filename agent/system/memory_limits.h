// SPDX-License-Identifier: Apache-2.0
//
// Limits of memory under which the program runs: what the agent maps counts against them as well.
// Who attaches asks RoomFor() first; who claims a chunk of the ring stands between EnterClaim() and
// LeaveClaim(), for the rest of the ring may be given back at any moment (mlockall).
// Threads: any.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace penstock::agent {

enum class Memory { kShared, kPrivate };  // only what is private counts against RLIMIT_DATA

// True if `bytes` more can be mapped without taking from the program what its limits leave it: with
// a finite RLIMIT_AS or RLIMIT_DATA a quarter of the rest at most, and nothing once the program
// locks what it maps from then on (MCL_FUTURE) with a limit to that.
// Cost: two or three system calls, and reading /proc/self/statm where a limit is set.
bool RoomFor(size_t bytes, Memory kind);

// The same for a ring that is there. Where it does not fit by that rule, but twice over, it may be
// attached for its header: `TrimIfTight()` then gives the rest back, and what the process does is
// counted as lost.
bool RoomToAttach(size_t bytes);
void TrimIfTight();

// Gives back every chunk of the ring that this process does not own, and lets none be claimed any
// more: what finds no room is counted as lost. The header stays.
void TrimRing();

// False: the ring is trimmed, there is nothing to claim.
bool EnterClaim();
void LeaveClaim();

bool IsTrimmed();
// False: the chunk of that number was given back; whoever goes over all of them leaves it out.
bool IsMapped(uint32_t chunk);

// For the report: the limits of this process left no room.
void NoteLimited();

// mlockall(flags) is about to be called: the ring must neither make it fail nor be locked.
void BeforeLockingAll(int flags);

}  // namespace penstock::agent
