// SPDX-License-Identifier: Apache-2.0
//
// Programs that lock themselves in: what the rest of the agent must know of them.
#pragma once

namespace penstock::agent {

// A child that shares its parent's memory (vfork) has locked itself in on this thread: an exec hook
// makes no system call of its own then. Stays true for the parent, on this one thread.
bool ChildIsLockedIn();

// Finds libc's syscall(), so that our own never looks for it in a place where it must not.
void FindSyscall();

}  // namespace penstock::agent
