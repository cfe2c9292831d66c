// SPDX-License-Identifier: Apache-2.0
//
// Which batch a thread was at, and when: the flush thread asks it of calls that were made a second
// ago on another thread. A ring of the last deliveries of this process, written by the threads that
// take batches, read by the flush thread; nobody waits. A forked child goes on with its parent's.
#pragma once

#include <stdint.h>

#include "agent/core/thread_state.h"

namespace penstock::agent {

// The calling thread was handed a batch at this moment.
void NoteDelivery(uint32_t batch, uint16_t generation);

// The batch that `tid` worked at, at `ticks` of the recording's clock: the last one delivered to it
// before, or, for a thread that takes no batches (autograd's), to any thread.
Context BatchAt(uint32_t tid, uint64_t ticks);

}  // namespace penstock::agent
