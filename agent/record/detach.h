// SPDX-License-Identifier: Apache-2.0
//
// What a process in the background does first: it gives up terminal, streams and descriptors.
#pragma once

namespace penstock::record {

// Gives the calling process a session of its own and the given niceness, closes standard streams
// and all descriptors but `keep_fd`, ignores signals of the terminal, and raises limits.
void DetachProcess(int keep_fd, int nice);

// Closes every descriptor from `first` to `last`.
void CloseDescriptors(unsigned first, unsigned last);

}  // namespace penstock::record
