// SPDX-License-Identifier: Apache-2.0
//
// The output of a recording without a collector: its two names, and the places of chunks in it. How
// a file is read and written: output.h. Threads: any.
#pragma once

#include <stdint.h>

namespace penstock::agent {

// The id of the run, as in FileHeader::uuid[0].
uint64_t RunHash();

// Notes who owns the file, and the name to which the run moves if something else has g_config.out
// or its file is lost. Returns that name, nullptr if it does not fit. Called before the file is
// joined or made.
const char* NameOutputs();

// Opens the output. If somebody has removed, cut or replaced the file, moves the run to the name
// beside it and opens that. A process that has become another user's (setuid) does not: its chunks
// stay in the segment, for the other processes or a reader.
int OpenOrRelocate();

// Takes a place in the file for a chunk. False if the budget or the disk is exhausted.
bool TakePlace(uint32_t* index);

}  // namespace penstock::agent
