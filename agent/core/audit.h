// SPDX-License-Identifier: Apache-2.0
//
// Bytes as the hooks saw them against bytes as the kernel counted them, of one moment, where no
// collector asks from outside. Threads: any; nobody waits.
#pragma once

#include <stdint.h>

#include "traces/wire.h"

namespace penstock::agent {

// rchar of /proc/self/io, 0 if it cannot be read.
uint64_t KernelReadBytes();

// Moves what was counted without a slot (before there was one, and by threads that did not see it
// yet) into the slot.
void FoldLocals(wire::ProcessSlot* slot);

// Begins with the pair that the slot holds.
void StartAudit();
// Brings the slot's pair (rchar_last, hooked_last) up to date.
void Audit();

}  // namespace penstock::agent
