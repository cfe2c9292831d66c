// SPDX-License-Identifier: Apache-2.0
//
// Recording without a collector: one file that every process of the run appends chunks to.
#pragma once

#include <stdint.h>

#include "traces/wire.h"

namespace penstock::agent {

// Makes the file named by g_config.out unless a process of this run has made it.
// False: it cannot be made (no permission, disk full, limit); nothing is left behind.
bool PrepareLinear();

// Claims and maps the next chunk. nullptr: budget or disk exhausted.
wire::ChunkHeader* ClaimLinearChunk(uint32_t* index);

// Ticks, monotonic and wall clock read together.
wire::ClockAnchor TakeAnchor();

// Removes a recording of an earlier run at g_config.out. Only the first process of a run does.
void RemoveStaleRecording();

// Whether TSC may serve as the clock of all processes of this host.
bool TscIsClock();

}  // namespace penstock::agent
