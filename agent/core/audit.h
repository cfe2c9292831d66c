// SPDX-License-Identifier: Apache-2.0
//
// Compares the bytes that the hooks saw with those that the kernel counted at the same moment,
// where no collector does so from outside. Threads: any; nobody waits.
#pragma once

#include <stdint.h>

#include "traces/wire.h"

namespace penstock::agent {

// Returns rchar of /proc/self/io, 0 if it cannot be read.
uint64_t KernelReadBytes();

// Moves what was counted without a slot (before there was one, and by threads that did not see it
// yet) into the slot.
void FoldLocals(wire::ProcessSlot* slot);

// Starts from the pair (rchar_last, hooked_last) that the slot holds.
void StartAudit();
// Compares, and brings that pair up to date.
void Audit();

}  // namespace penstock::agent
