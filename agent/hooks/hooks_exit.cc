// SPDX-License-Identifier: Apache-2.0
//
// Hooks on the calls that end a process without destructors: _exit(), which children of
// multiprocessing call, and _Exit(). Without these hooks a reader of the recording would write out
// the chunks, as for a killed process. Only the process's CPU time since it was last sampled would
// be missing.

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
