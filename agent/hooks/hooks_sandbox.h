// SPDX-License-Identifier: Apache-2.0
//
// Programs that lock themselves in: what the rest of the agent must know of them.
#pragma once

namespace penstock::agent {

// A child that shares its parent's memory (vfork) has locked itself in on this thread: an exec hook
// makes no system call of its own then. Stays true for the parent, on this one thread.
bool ChildIsLockedIn();

// The program has installed a seccomp filter.
bool HasOwnFilter();

}  // namespace penstock::agent
