// SPDX-License-Identifier: Apache-2.0
//
// Facts about the place of a process among the ranks. The slot of the process has no room for them.
#pragma once

namespace penstock::agent {

// Writes rank.launcher, rank.local_size and rank.node, as far as they are known; nothing without a
// rank.
// Requires: the calling thread has a chunk.
void WriteRankFacts();

}  // namespace penstock::agent
