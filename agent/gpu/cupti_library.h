// SPDX-License-Identifier: Apache-2.0
//
// Finds CUPTI. If the process has mapped a copy of CUPTI, that copy is used: a second one would
// collide with the copy that the program's own profiler uses. A copy for a newer CUDA than the
// driver's is never used: if CUPTI 13.2 cannot initialise, even cuptiGetVersion() recurses until
// the stack overflows.
#pragma once

#include <stddef.h>

#include "agent/gpu/cupti_abi.h"

namespace penstock::agent::cupti {

struct Library {
  Functions functions;
  char path[4096];  // of the library that was opened
  int copies;       // copies of CUPTI that the process had mapped before
};

// False if none was found that the driver can use, or it lacks a function that is needed. `why` (of
// `size` bytes) says which of these it was.
bool OpenLibrary(Library* library, char* why, size_t size);

}  // namespace penstock::agent::cupti
