// SPDX-License-Identifier: Apache-2.0
//
// What a worker or the training loop waits for when it stands still: its Python stack, once for
// each stall. A native thread of ours looks at the watched threads a few times a second, without
// the GIL. Only if one of them has begun no span for several times as long as usual does it take
// the GIL, and reads that thread's frames. It runs no code of the program and sends no signal.
//
// The thread does not exist while the process forks, nor once the interpreter finalises: the hooks
// stop it before (StallStop), and say when the fork is over (StallForked): none begins meanwhile.
#pragma once

#include "agent/python_api.h"

namespace penstock::agent {

// The builtins of the hooks; the table in python_bridge.cc says what each takes and returns.
Function StallWatch, StallLeave, StallStop, StallForked;

}  // namespace penstock::agent
