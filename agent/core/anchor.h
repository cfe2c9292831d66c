// SPDX-License-Identifier: Apache-2.0
//
// Ticks of a recording against the system's clocks.
#pragma once

#include <time.h>

#include "traces/wire.h"

namespace penstock::agent {

// The kernel's clock in nanoseconds, past any library that tells another time; CLOCK_MONOTONIC as
// the recording's time namespace has it.
uint64_t ClockNs(clockid_t clock);

// Ticks, monotonic and wall clock read together.
wire::ClockAnchor TakeAnchor();

// Whether TSC may serve as the clock of all processes of this host.
bool TscIsClock();

}  // namespace penstock::agent
