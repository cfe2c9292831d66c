// SPDX-License-Identifier: Apache-2.0
//
// The small map of the whole trace above the rows. Pure.
#pragma once

#include <vector>

#include "gui/model/timeline/density.h"

namespace penstock::gui {

// The boxes of each strip of the map: the training loops; all workers and further threads of their
// processes; the streams of devices. The threads of a strip are drawn together, as high as they are
// many, so that none is missing. A wait for another loader inside a step is shown instead of the
// step. A trace without training processes and workers has a strip for each of its first four
// threads. Cost: O(lanes * width / column), and one pass over the levels of a loop that have such
// waits.
[[nodiscard]] std::vector<std::vector<Box>> MapStrips(const Timeline& timeline,
                                                      const Window& whole);

}  // namespace penstock::gui
