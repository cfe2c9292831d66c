// SPDX-License-Identifier: Apache-2.0
//
// System V shared memory: what the processes of a run write into. A segment cannot be made shorter
// by anybody, so no store into it can raise SIGBUS; it outlives the SIGKILL of every process, and
// only its owner may attach it. Raw system calls only. Threads: any.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace penstock::agent {

// A new segment of `size` bytes, all zero, mode 0600. -1: there is none to be had.
int CreateSegment(size_t size);

// Attaches the segment `id` if it is this user's. nullptr: it is not, or it does not exist.
// `size`: its size in bytes.
void* AttachSegment(int id, size_t* size);
void DetachSegment(const void* at);

// There is such a segment, and it is this user's: this process may have no room for it.
bool IsOwnSegment(int id);

// The segment goes away once nobody has it attached.
void RemoveSegment(int id);

// Number of processes that have it attached; 0 also if there is no such segment.
uint64_t Attachments(int id);

// Removes segments of this user that hold a recording which all of its processes have left: after
// six hours, and where more than 64 are left the oldest. Nobody came to join them to their files.
void RemoveStaleSegments();

// Where a ring is, as PENSTOCK_ARENA says it: "sysv:ID:UUID" (decimal, hexadecimal) or a path.
inline constexpr char kSegmentPrefix[] = "sysv:";

}  // namespace penstock::agent
