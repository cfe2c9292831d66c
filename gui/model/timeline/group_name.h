// SPDX-License-Identifier: Apache-2.0
//
// The names of processes in the timeline. Pure.
#pragma once

#include <string>
#include <vector>

#include "gui/model/timeline/timeline.h"
#include "gui/model/words/texts.h"

namespace penstock::gui {

// Finds the workers that have the same number, and what tells them apart: Group::epoch and
// Group::other_loader. Requires: lanes, stops, epochs and groups are complete.
void TellWorkersApart(Timeline& timeline);

// Sorts the lanes of each group: threads in their order, then streams by device and number. Finds
// what tells lanes apart that would have one name: Lane::alike and Lane::rank_of_device. Requires:
// lanes and groups are complete.
void TellLanesApart(Timeline& timeline);

// "training process", "worker 2", or the name of the program. Of several ranks: "rank 1: training".
// Workers with one number: "worker 0 · epoch 2 · train.py:88". `loaders`: the names of the
// loaders by id, empty for a single loader.
[[nodiscard]] std::string GroupName(const Timeline& timeline, const Group& group,
                                    const std::vector<std::string>& loaders, Language language);

// The names of loaders without their file, for a narrow column: ":117 #2" for
// "structure_cell.py:117 #2". The line and the number tell loaders apart, so they stay; if they do
// not tell them apart, the names stay as they are.
[[nodiscard]] std::vector<std::string> WithoutFiles(const std::vector<std::string>& loaders);

}  // namespace penstock::gui
