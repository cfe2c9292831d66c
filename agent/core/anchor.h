// SPDX-License-Identifier: Apache-2.0
//
// Relates the ticks of a recording to the system's clocks.
#pragma once

#include <time.h>

#include "traces/wire.h"

namespace penstock::agent {

// The kernel's clock in nanoseconds, even if a preloaded library tells another time.
// CLOCK_MONOTONIC is converted to the time namespace of the process that made the recording.
uint64_t ClockNs(clockid_t clock);

// Reads ticks, monotonic clock and wall clock together.
wire::ClockAnchor TakeAnchor();

// Whether TSC may serve as the clock of all processes of this host.
bool TscIsClock();

}  // namespace penstock::agent
