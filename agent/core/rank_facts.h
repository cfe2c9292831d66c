// SPDX-License-Identifier: Apache-2.0
//
// What a process knows of its place among the ranks, as facts where its slot has no room for it.
#pragma once

namespace penstock::agent {

// Writes rank.launcher, rank.local_size and rank.node, as far as they are known; nothing without a
// rank.
// Requires: the calling thread has a chunk.
void WriteRankFacts();

}  // namespace penstock::agent
