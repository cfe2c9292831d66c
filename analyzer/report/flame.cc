// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/flame.h"

#include <algorithm>

namespace penstock::analyzer {

std::vector<FlameBox> FlameBoxes(const std::vector<CallPath>& paths) {
  std::vector<FlameBox> boxes(paths.size());
  double used = 0;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    boxes[i].own = paths[i].total;
    if (paths[i].parent == i) {
      boxes[i].left = used;
      used += paths[i].total;
      continue;
    }
    FlameBox& above = boxes[paths[i].parent];
    boxes[i].depth = above.depth + 1;
    boxes[i].left = above.left + paths[paths[i].parent].total - above.own;
    above.own = std::max(0.0, above.own - paths[i].total);
  }
  return boxes;
}

}  // namespace penstock::analyzer
