// SPDX-License-Identifier: Apache-2.0
//
// Notes the dataset indices of samples that took long, so that the Python hooks can follow these
// samples in a later epoch. Workers may end with their epoch, so the table lies in memory that
// forked workers share with the process that made it. A process that was spawned has its own.
#pragma once

#include "agent/core/recorder.h"
#include "agent/python_api.h"

namespace penstock::agent {

// The builtins of the hooks; the table in python_bridge.cc says what each takes and returns.
Function SlowShare, SlowAbove, SlowCount, SlowSample;

// To be called before a span of Python ends. If it is a sample that has taken longer than the time
// that slow_above() set, notes the sample's index. Leaves out a sample that was followed, since
// following made it longer. Must not be called for samples of a stream, since their numbers are no
// indices.
void NoteSlowSample(Token token);

}  // namespace penstock::agent
