// SPDX-License-Identifier: Apache-2.0
//
// The first steps of a process in the background: it detaches from terminal, streams and
// descriptors.
#pragma once

namespace penstock::record {

// Gives the calling process a session of its own, SCHED_BATCH and / as its folder. Adds `nice` to
// its niceness. Redirects the standard streams to /dev/null and closes all descriptors but
// `keep_fd`. Ignores the signals that end or stop a job, and blocks none. Raises the limits of
// descriptors and of the size of files as far as possible.
// Requires: keep_fd > 2.
void DetachProcess(int keep_fd, int nice);

// Closes every descriptor from `first` to `last`.
void CloseDescriptors(unsigned first, unsigned last);

}  // namespace penstock::record
