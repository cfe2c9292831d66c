// SPDX-License-Identifier: Apache-2.0
//
// Which of several ranks the figures of a run are those of. Used by run_model.cc only.
#pragma once

#include "analyzer/model/run_model.h"

namespace penstock::analyzer {

// Of the ranks that train together the one whose data is slowest tells what holds all of them back;
// the steps of the others hold their waiting for it. Its loader becomes the first; of those within
// two points of the largest share of waiting, that of the lowest rank.
// Requires: model.loaders is sorted by the number of batches.
void PutSlowestRankFirst(RunModel& model);

}  // namespace penstock::analyzer
