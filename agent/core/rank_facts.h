// SPDX-License-Identifier: Apache-2.0
//
// Facts of a process about its place among the ranks for which its slot has no room.
#pragma once

namespace penstock::agent {

// Writes rank.launcher, rank.local_size and rank.node, as far as they are known; nothing without a
// rank.
// Requires: the calling thread has a chunk.
void WriteRankFacts();

}  // namespace penstock::agent
