// SPDX-License-Identifier: Apache-2.0
//
// Processes of one recording may live in different time namespaces (unshare --time, some
// containers). Their CLOCK_MONOTONIC and start times in /proc then differ by a constant.
#pragma once

#include <stdint.h>

#include "traces/wire.h"

namespace penstock::agent {

struct TimeOffsets {
  int64_t monotonic_ns;
  int64_t boottime_ns;
};

// Offsets of the calling process to the machine's first namespace; zeros if the kernel has no time
// namespaces, or if it gives only the offsets of the caller's future children.
TimeOffsets OwnTimeOffsets();

// How far this process's clocks are ahead of those of the process that made the recording.
extern int64_t g_clock_shift;  // CLOCK_MONOTONIC, ns
extern int64_t g_start_shift;  // /proc/PID/stat field 22, clock ticks
void NoteTimeNamespace(const wire::FileHeader* header);

}  // namespace penstock::agent
