// SPDX-License-Identifier: Apache-2.0
//
// Recording without a collector. The processes of a run share a segment of chunks, as under a
// collector. A thread that has filled its chunk writes it to its place in the output file and goes
// on in the same memory. The last process of the run writes the rest when it ends. If it is killed,
// a reader of the file adds what is in the segment (traces/recording/join_segment.h).
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "traces/wire.h"

namespace penstock::agent {

// Joins the recording of this run, or makes it under the name g_config.out. If something else has
// that name, the file beside it is used (NameBeside()). nullptr if neither is possible (no
// permission, disk full, no shared memory); nothing is left behind then. `size`: bytes mapped.
// Requires: the caller has the lock of EnsureProcess().
wire::FileHeader* AttachLinear(size_t* size);

// To be called when this process ends: writes out the chunks of its threads. In the last process of
// the run it also finishes the file, after which nothing is recorded.
void FinishLinear();

// To be called when records were dropped after FinishLinear(): writes their number to the file.
void NoteLateLoss();

}  // namespace penstock::agent
