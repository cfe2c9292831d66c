// SPDX-License-Identifier: Apache-2.0
//
// How the agent comes into a process and stays with its children.
#pragma once

#include <stddef.h>

namespace penstock::agent {

// "NAME=value" strings of our variables as they were at start, for children whose environment
// somebody rebuilt. Ends with nullptr.
extern const char* g_variables[24];

// Non-zero while this is a `python -I` or `-E` whose hooks are not in yet.
extern int g_isolated_python;
void InjectIsolatedPython();

// Python ignores PYTHONPATH with -I and -E; there the hooks go in through a pending call, queued
// from the first file that Python opens after its interpreter is up.
inline void PollIsolatedPython() {
  if (__builtin_expect(g_isolated_python != 0, 0)) {
    InjectIsolatedPython();
  }
}

}  // namespace penstock::agent
