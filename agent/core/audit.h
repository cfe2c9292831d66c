// SPDX-License-Identifier: Apache-2.0
//
// Compares the bytes that the hooks saw with the bytes that the kernel counted up to the same
// moment. Used only without a collector: a collector compares them itself. Threads: any; nobody
// waits.
#pragma once

#include <stdint.h>

#include "traces/wire.h"

namespace penstock::agent {

// Returns rchar of /proc/self/io, 0 if it cannot be read.
uint64_t KernelReadBytes();

// Adds to the slot the bytes that were counted elsewhere: before the process had a slot, and by
// threads that did not see the slot yet.
void FoldLocals(wire::ProcessSlot* slot);

// Makes Audit() go on from rchar_last and hooked_last, as they stand in the slot.
void StartAudit();
// Adds to rchar_last what the kernel counted since the last call, and to hooked_last what the hooks
// counted. Leaves out an interval in which a child was reaped; joins a short one to the next.
void Audit();

}  // namespace penstock::agent
