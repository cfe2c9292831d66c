// SPDX-License-Identifier: Apache-2.0
//
// How the agent comes into a process and stays with its children.
#pragma once

#include <stddef.h>

namespace penstock::agent {

// "NAME=value" strings of our variables as they were at start, for children whose environment
// somebody rebuilt. Ends with nullptr.
extern const char* g_variables[24];

}  // namespace penstock::agent
