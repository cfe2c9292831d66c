// SPDX-License-Identifier: Apache-2.0
//
// Relates the ticks of a recording to the system's clocks. Threads: any.
#pragma once

#include <time.h>

#include "traces/wire.h"

namespace penstock::agent {

// The kernel's clock in nanoseconds, even if a preloaded library tells another time.
// CLOCK_MONOTONIC is converted to the time namespace of the process that made the recording.
uint64_t ClockNs(clockid_t clock);

// Reads ticks, monotonic clock and wall clock as nearly at one moment as it can. If the recording
// does not use the TSC, the ticks are the time of the monotonic clock.
wire::ClockAnchor TakeAnchor();

// Whether the TSC may serve as the clock of all processes of this host: it ticks at a constant
// rate, and the kernel itself takes its time from it.
bool TscIsClock();

}  // namespace penstock::agent
