// SPDX-License-Identifier: Apache-2.0
//
// Where a recording without a collector goes: the two names that its file may have, and the places
// of chunks in the file. output.h reads and writes the file. Threads: any.
#pragma once

#include <stdint.h>

namespace penstock::agent {

// The id of the run, as in FileHeader::uuid[0].
uint64_t RunHash();

// Notes the user who owns the file, and its second name (NameBeside()). The run uses the second
// name if another file is named g_config.out, or if its own file is lost. Returns the second name,
// or nullptr if it is too long. Called before the file is joined or made.
const char* NameOutputs();

// Opens the output and returns a descriptor for CloseOutput(); negative: the output cannot be
// opened. If somebody has removed or replaced the file, or cut off its header, moves the run to the
// second name and opens that. A process that has changed its user (setuid) does not move the run:
// its chunks stay in the segment, for the other processes or a reader.
int OpenOrRelocate();

// Takes a place in the file for a chunk and sets `index` to it. False if the budget or the disk is
// exhausted, or the file cannot be opened.
bool TakePlace(uint32_t* index);

}  // namespace penstock::agent
