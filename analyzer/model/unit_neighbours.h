// SPDX-License-Identifier: Apache-2.0
//
// How long a followed sample would have taken if it had not been followed: as long as the samples
// that the same thread made shortly before and after it. The first sample of a batch is compared
// with the first samples of other batches, because collating has emptied the caches before: code in
// C takes 1.3 to 1.5 times as long in it (JPEG files of 480 pixels, batches of 8). Values; pure
// functions.
#pragma once

#include <span>
#include <vector>

#include "analyzer/model/sample_tail.h"
#include "traces/call_trees.h"

namespace penstock::analyzer {

// Each span holds samples thread by thread, ascending by start.
using SampleTimeLists = std::vector<std::span<const SampleTime>>;

// For each of `trees`: the mean time of up to 32 neighbours, without those that took more than
// three times their median. 0: not known, because the unit is no sample or not in `lists`, or
// because fewer than eight neighbours are left.
[[nodiscard]] std::vector<TimeNs> TimesOfNeighbours(std::span<const traces::CallTree> trees,
                                                    const SampleTimeLists& lists);

}  // namespace penstock::analyzer
