// SPDX-License-Identifier: Apache-2.0
//
// Finds CUPTI. A second copy in a process would collide with the one that the program's own
// profiler uses, so a copy that is mapped already is always the one that is taken. Never one of a
// newer CUDA than the driver's: that of 13.2 calls itself until the stack ends where it cannot
// initialise, in cuptiGetVersion() already.
#pragma once

#include <stddef.h>

#include "agent/gpu/cupti_abi.h"

namespace penstock::agent::cupti {

struct Library {
  Functions functions;
  char path[4096];  // what was opened
  int copies;       // mapped before
};

// False: none was found, or it lacks a function that is needed; `why` (of `size` bytes) says which.
bool OpenLibrary(Library* library, char* why, size_t size);

}  // namespace penstock::agent::cupti
