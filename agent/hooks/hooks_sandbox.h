// SPDX-License-Identifier: Apache-2.0
//
// Tells the agent whether the program has sandboxed itself: restricted its own system calls, or
// forbidden itself the time stamp counter or CPUID.
#pragma once

namespace penstock::agent {

// Whether a vfork child of this thread has sandboxed itself. The exec hooks then make no system
// calls of their own. The child shares the parent's thread-local storage, so afterwards the answer
// stays true for this thread of the parent.
bool VforkChildIsSandboxed();

// Whether this process has asked for seccomp through prctl() or syscall(). A call that failed
// counts, too. While the agent records, a call in a vfork child sets only VforkChildIsSandboxed(),
// not ProgramUsesSeccomp().
bool ProgramUsesSeccomp();

}  // namespace penstock::agent
