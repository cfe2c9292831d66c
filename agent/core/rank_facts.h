// SPDX-License-Identifier: Apache-2.0
//
// What a process's slot has no room for of its place among the ranks: facts of the process.
#pragma once

namespace penstock::agent {

// rank.launcher, rank.local_size and rank.node, as far as they are known; nothing without a rank.
// Requires: a chunk of the calling thread.
void WriteRankFacts();

}  // namespace penstock::agent
