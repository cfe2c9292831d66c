// SPDX-License-Identifier: Apache-2.0
#include "tests/loader/decode/regions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace penstock::loader::test {

std::string Difference(const ImageView& view, const PlainImage& whole, int x, int y) {
  if (x < 0 || y < 0 || x + view.width > whole.width || y + view.height > whole.height) {
    return "view reaches outside";
  }
  for (int row = 0; row < view.height; ++row) {
    const std::uint8_t* got = view.pixels + row * view.stride;
    const std::uint8_t* want =
        whole.pixels.data() + (static_cast<std::ptrdiff_t>(y + row) * whole.width + x) * 3;
    if (!std::equal(got, got + std::ptrdiff_t{3} * view.width, want)) {
      return "row " + std::to_string(row) + " of " + std::to_string(view.height);
    }
  }
  return "";
}

std::vector<Region> Regions(int width, int height) {
  std::vector<std::pair<int, int>> columns;
  std::vector<std::pair<int, int>> rows;
  const auto fill = [](std::vector<std::pair<int, int>>& out, int size) {
    for (const int first : {0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 40, size - 17, size - 1}) {
      for (const int length : {1, 2, 3, 8, 15, 16, 17, size / 2, size - first}) {
        if (first >= 0 && length > 0 && first + length <= size) {
          out.emplace_back(first, length);
        }
      }
    }
  };
  fill(columns, width);
  fill(rows, height);
  // Does not combine all columns with all rows, since they do not affect each other.
  std::vector<Region> out = {{0, 0, width, height}};
  for (std::size_t i = 0; i < std::max(columns.size(), rows.size()); ++i) {
    const auto [x, w] = columns[i % columns.size()];
    const auto [y, h] = rows[i % rows.size()];
    const auto [other_y, other_h] = rows[(i * 7 + 3) % rows.size()];
    out.push_back({x, y, w, h});
    out.push_back({x, other_y, w, other_h});
  }
  return out;
}

}  // namespace penstock::loader::test
