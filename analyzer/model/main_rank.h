// SPDX-License-Identifier: Apache-2.0
//
// Chooses the rank whose figures stand for a run. Used by run_model.cc only.
#pragma once

#include "analyzer/model/run_model.h"

namespace penstock::analyzer {

// Moves the loader of the slowest rank to the front. When ranks train together, the rank with the
// slowest data holds all others up, and their steps include waiting for it. It is the rank with the
// largest share of waiting; of those within two points of it, the one with the lowest number.
// Requires: model.loaders is sorted by PutMostAwaitedFirst().
void PutSlowestRankFirst(RunModel& model);

}  // namespace penstock::analyzer
