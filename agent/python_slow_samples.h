// SPDX-License-Identifier: Apache-2.0
//
// The dataset indices whose samples took long, so that the Python hooks can follow them when they
// come again in a later epoch. Workers may end with their epoch, so the table lies in memory that
// forked workers share with the process that made it. A process that was spawned has its own.
#pragma once

#include "agent/core/recorder.h"
#include "agent/python_api.h"

namespace penstock::agent {

// The builtins of the hooks; the table in python_bridge.cc says what each takes and returns.
Function SlowShare, SlowAbove, SlowCount, SlowSample;

// To be called before a span of Python ends. If it is a sample that has taken longer than the time
// that slow_above() set, notes the sample's index. Leaves out a sample that was followed, since
// following made it longer. Not for the samples of a stream, whose numbers are no indices.
void NoteSlowSample(Token token);

}  // namespace penstock::agent
