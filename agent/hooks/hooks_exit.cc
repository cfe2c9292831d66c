// SPDX-License-Identifier: Apache-2.0
//
// Ends that run no destructor: _exit(), which children of multiprocessing call, and _Exit().
// Without these hooks a reader of the file writes out the chunks, as for a killed process. Only the
// CPU time since the last sample would be missing.

#include <stdlib.h>
#include <unistd.h>

#include "agent/core/process.h"
#include "agent/hooks/hook.h"

PENSTOCK_EXPORT void _exit(int status) {
  penstock::agent::EndProcess();
  PENSTOCK_REAL(_exit)(status);
  __builtin_unreachable();
}

PENSTOCK_EXPORT void _Exit(int status) noexcept {
  penstock::agent::EndProcess();
  PENSTOCK_REAL(_Exit)(status);
  __builtin_unreachable();
}
