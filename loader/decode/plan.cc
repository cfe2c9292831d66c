// SPDX-License-Identifier: Apache-2.0
#include "loader/decode/plan.h"

#include <algorithm>

namespace penstock::loader {

int ChooseDenominator(double quality, const Region& region, Size target) {
  if (!(quality >= 1) || target.width <= 0 || target.height <= 0) {
    return 1;
  }
  for (const int denominator : {8, 4, 2}) {
    if (region.width >= quality * denominator * target.width &&
        region.height >= quality * denominator * target.height) {
      return denominator;
    }
  }
  return 1;
}

Region Reduced(const Region& region, int denominator) {
  const int x = region.x / denominator;
  const int y = region.y / denominator;
  const int right = (region.x + region.width + denominator - 1) / denominator;
  const int bottom = (region.y + region.height + denominator - 1) / denominator;
  return {x, y, right - x, bottom - y};
}

Region Expanded(const Region& reduced, int denominator) {
  return {reduced.x * denominator, reduced.y * denominator, reduced.width * denominator,
          reduced.height * denominator};
}

ColumnRange ColumnsFor(const Region& region, int image_width, int mcu_width) {
  // jpeg_crop_scanline() stops interpolating if too few samples of chroma are left. This many
  // columns are enough.
  constexpr int kLeast = 16;
  const int end = std::min(std::max(region.x + region.width + 1, kLeast), image_width);
  const int first = std::max(std::min(region.x - 1, end - kLeast), 0);
  const bool leaves_out_left = first >= mcu_width;
  const bool leaves_out_right =
      (end + mcu_width - 1) / mcu_width < (image_width + mcu_width - 1) / mcu_width;
  if (!leaves_out_left && !leaves_out_right) {
    return {0, image_width};
  }
  return {first, end - first};
}

}  // namespace penstock::loader
