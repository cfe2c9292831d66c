// SPDX-License-Identifier: Apache-2.0
//
// How the agent starts in a process and is passed on to its children.
#pragma once

#include <stddef.h>

namespace penstock::agent {

// The environment's PENSTOCK_ variables ("NAME=value") as the agent left them at start. A child
// whose environment lacks them gets them from here. Ends with nullptr.
extern const char* g_variables[24];

}  // namespace penstock::agent
