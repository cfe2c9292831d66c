// SPDX-License-Identifier: Apache-2.0
//
// Remembers which batch a thread worked on, and when: the flush thread asks this about calls that
// another thread made up to a second ago. The last deliveries of this process are in a buffer that
// wraps around. The threads that take batches write it, the flush thread reads it, and nobody
// waits. A forked child goes on with a copy of its parent's deliveries.
#pragma once

#include <stdint.h>

#include "agent/core/thread_state.h"

namespace penstock::agent {

// Notes that the calling thread was handed a batch now.
void NoteDelivery(uint32_t batch, uint16_t generation);

// Returns the batch that thread `tid` worked on at `ticks` of the recording's clock: the last one
// that was delivered to it before `ticks`. If the buffer has none for this thread (autograd's
// threads take no batches), returns the last one delivered to any thread before `ticks`; kNoBatch
// if there is none. `tid` 0: any thread.
Context BatchAt(uint32_t tid, uint64_t ticks);

}  // namespace penstock::agent
