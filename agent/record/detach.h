// SPDX-License-Identifier: Apache-2.0
//
// What a process in the background does first: it lets go of terminal, streams and descriptors.
#pragma once

namespace penstock::record {

// Makes the calling process a good background: own session, no standard streams or foreign
// descriptors, no terminal signals, generous limits, niced.
void DetachProcess(int keep_fd, int nice);

// Closes every descriptor from `first` to `last`.
void CloseDescriptors(unsigned first, unsigned last);

}  // namespace penstock::record
