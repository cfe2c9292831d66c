// SPDX-License-Identifier: Apache-2.0
//
// Tells the rest of the agent whether the program has locked itself in.
#pragma once

namespace penstock::agent {

// Whether a child that shares its parent's memory (vfork) has locked itself in on this thread. An
// exec hook then makes no system call of its own. Stays true on this thread of the parent.
bool ChildIsLockedIn();

// Whether the program has installed a seccomp filter.
bool HasOwnFilter();

}  // namespace penstock::agent
