// SPDX-License-Identifier: Apache-2.0
//
// Remembers which batch a thread worked at, and when: the flush thread asks this about calls that
// another thread made up to a second ago. A ring of the last deliveries of this process, written by
// the threads that take batches and read by the flush thread; nobody waits. A forked child
// continues its parent's ring.
#pragma once

#include <stdint.h>

#include "agent/core/thread_state.h"

namespace penstock::agent {

// Notes that the calling thread was handed a batch now.
void NoteDelivery(uint32_t batch, uint16_t generation);

// The batch that `tid` worked at, at `ticks` of the recording's clock: the last one that was
// delivered to it before. For a thread that takes no batches (autograd's), the last one delivered
// to any thread.
Context BatchAt(uint32_t tid, uint64_t ticks);

}  // namespace penstock::agent
