// SPDX-License-Identifier: Apache-2.0
//
// Records what a worker or the training loop waits for when it stands still: its Python stack, once
// for each stall. A native thread of ours, the watching thread, looks at the watched threads a few
// times a second, without the GIL. If one of them has begun no span for several times as long as
// usual, the watching thread takes the GIL and reads that thread's frames. It runs no code of the
// program and sends no signal.
//
// The hooks stop the watching thread before the process forks and before the interpreter finalises
// (StallStop). They say when the fork is over (StallForked); no watching thread starts before that.
#pragma once

#include "agent/python_api.h"

namespace penstock::agent {

// The builtins of the hooks; the table in python_bridge.cc says what each takes and returns.
Function StallWatch, StallLeave, StallStop, StallForked;

}  // namespace penstock::agent
