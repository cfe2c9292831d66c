// SPDX-License-Identifier: Apache-2.0
//
// Memory limits of the program, against which the agent's mappings count too. Before attaching, ask
// RoomFor(). Claim a chunk of the ring only between EnterClaim() and LeaveClaim(), since the rest
// of the ring may be unmapped at any moment (mlockall).
// Threads: any.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace penstock::agent {

enum class Memory { kShared, kPrivate };  // RLIMIT_DATA counts only private memory

// True if the agent may map `bytes` more. Under a finite RLIMIT_AS or RLIMIT_DATA it may use a
// quarter of what is left. It may map nothing once the program locks all future mappings
// (MCL_FUTURE) and its locked memory is limited.
// Cost: one to four system calls, and reading /proc/self/statm where a limit is set.
bool RoomFor(size_t bytes, Memory kind);

// The same for an existing ring. If the ring does not fit by the rule of RoomFor(), but twice its
// size is left, it may still be attached for its header. TrimIfTight() then unmaps the chunks, and
// all that the process records is counted as lost.
bool RoomToAttach(size_t bytes);
void TrimIfTight();

// Unmaps every chunk of the ring that this process does not own. From then on no chunk can be
// claimed, and records for which there is no room are counted as lost. The header stays mapped.
void TrimRing();

// False if the ring is trimmed, so that there is nothing to claim.
bool EnterClaim();
void LeaveClaim();

bool IsTrimmed();
// False if the chunk of this number was unmapped. Loops over all chunks must skip it.
bool IsMapped(uint32_t chunk);

// Notes for the report that the limits of this process left no room.
void NoteLimited();

// To be called before mlockall(flags). If locked memory is limited, this gives back the ring, which
// would be locked too and could make the call fail.
void BeforeLockingAll(int flags);

}  // namespace penstock::agent
