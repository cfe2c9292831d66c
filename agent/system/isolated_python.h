// SPDX-License-Identifier: Apache-2.0
//
// Installs the Python hooks in an interpreter that does not run our sitecustomize (`python -I`,
// `-E`, `-S`). When Python opens its first file after the interpreter has started, a pending call
// is queued, which installs them. Threads: any; the pending call runs on Python's main thread, with
// its lock held.
#pragma once

namespace penstock::agent {

// Looks at the command line of this process; called by the constructor.
void NoteIsolatedPython();

// Non-zero while this is such a Python and the hooks still have to be queued.
extern int g_isolated_python;
void InjectIsolatedPython();

inline void PollIsolatedPython() {
  if (__builtin_expect(g_isolated_python != 0, 0)) {
    InjectIsolatedPython();
  }
}

}  // namespace penstock::agent
