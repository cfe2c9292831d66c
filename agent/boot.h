// SPDX-License-Identifier: Apache-2.0
//
// How the agent starts in a process and is passed on to its children.
#pragma once

#include <stddef.h>

namespace penstock::agent {

// The PENSTOCK_ variables ("NAME=value") as the agent set them at start; nullptr ends the list. A
// child whose environment lacks them gets them from here.
extern const char* g_variables[24];

}  // namespace penstock::agent
