// SPDX-License-Identifier: Apache-2.0
//
// Tells the agent whether the program has sandboxed itself: restricted its own system calls, or
// forbidden itself the time stamp counter or CPUID.
#pragma once

namespace penstock::agent {

// Whether a vfork child of this thread has sandboxed itself. The exec hooks then make no system
// calls of their own. The child shares the parent's thread-local storage, so the answer stays true
// for this thread of the parent.
bool VforkChildIsSandboxed();

// Whether this process has asked for seccomp through prctl() or syscall(). A call that failed
// counts, too. As long as the agent records, a vfork child's call counts only for
// VforkChildIsSandboxed().
bool ProgramUsesSeccomp();

}  // namespace penstock::agent
