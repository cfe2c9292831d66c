// SPDX-License-Identifier: Apache-2.0
//
// Chooses the rank whose figures stand for a run. Used by run_model.cc only. main_rank.cc also
// defines the functions of RunModel that tell what belongs to this rank and its host.
#pragma once

#include "analyzer/model/run_model.h"

namespace penstock::analyzer {

// Moves the loader of the slowest rank to the front. When ranks train together, the rank with the
// slowest data holds all others up, and their steps include waiting for it. The slowest rank is the
// one with the largest share of waiting. If the shares of several ranks are within two percentage
// points of the largest, the one with the lowest number is taken. A rank with less than half of the
// batches of the longest loader is not considered.
// Requires: model.loaders is sorted by PutMostAwaitedFirst().
void PutSlowestRankFirst(RunModel& model);

}  // namespace penstock::analyzer
