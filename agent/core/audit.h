// SPDX-License-Identifier: Apache-2.0
//
// Compares the bytes that the hooks saw with the bytes that the kernel counted up to the same
// moment. Only without a collector, which compares them from outside. Threads: any; nobody waits.
#pragma once

#include <stdint.h>

#include "traces/wire.h"

namespace penstock::agent {

// Returns rchar of /proc/self/io, 0 if it cannot be read.
uint64_t KernelReadBytes();

// Moves bytes that were counted outside the slot into it: those from before the process had a slot,
// and those of threads that did not see it yet.
void FoldLocals(wire::ProcessSlot* slot);

// Makes Audit() go on from rchar_last and hooked_last, as they stand in the slot.
void StartAudit();
// Adds to rchar_last what the kernel counted since the last call, and to hooked_last what the hooks
// counted. Leaves out an interval in which a child was reaped; joins a short one to the next.
void Audit();

}  // namespace penstock::agent
