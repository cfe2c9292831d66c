// SPDX-License-Identifier: Apache-2.0
//
// System V shared memory for the chunks of a run, with a collector (ring) or without one. Nobody
// can make a segment shorter, so no store into it can raise SIGBUS. It outlives the SIGKILL of
// every process, and only its owner may attach it. Raw system calls only. Threads: any.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace penstock::agent {

// Makes a segment of `size` bytes, all zero, with mode 0600. Negative if none can be had.
int CreateSegment(size_t size);

// Attaches the segment `id` and sets `size` to its size in bytes. nullptr if it cannot be attached,
// is not this user's alone, or does not fit into the program's memory limits
// (agent/system/memory_limits.h).
void* AttachSegment(int id, size_t* size);
void DetachSegment(const void* at);

// Whether there is such a segment and it belongs to this user, even if this process has no room to
// attach it.
bool IsOwnSegment(int id);

// Removes the segment once nobody has it attached.
void RemoveSegment(int id);

// Number of processes that have the segment attached; 0 also if there is no such segment. A process
// that has unmapped parts of it counts once for each part that is left (TrimRing()).
uint64_t Attachments(int id);

// Removes abandoned segments of this user. Such a segment holds a recording, no process has it
// attached, and nobody has added its records to a file. Of the 16 oldest, removes those that were
// left more than six hours ago and, while there are more than 64, those that were left more than
// 10 s ago.
void RemoveStaleSegments();

// The value of PENSTOCK_ARENA begins so if the ring is a segment: "sysv:ID:HALF", the id in decimal
// and the first half of the ring's uuid in hexadecimal. Otherwise it is a path.
inline constexpr char kSegmentPrefix[] = "sysv:";

}  // namespace penstock::agent
