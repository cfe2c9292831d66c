// SPDX-License-Identifier: Apache-2.0
//
// Regions of a picture to decode, and the comparison of a decoded one with the whole picture.
#pragma once

#include <string>
#include <vector>

#include "loader/decode/jpeg_decoder.h"
#include "tests/loader/support/jpeg_writer.h"

namespace penstock::loader::test {

// "" if the view shows `whole` from (x, y) on, else where it first differs.
[[nodiscard]] std::string Difference(const ImageView& view, const PlainImage& whole, int x, int y);

// Regions that begin and end before, on and after the borders of MCUs and of the picture.
[[nodiscard]] std::vector<Region> Regions(int width, int height);

}  // namespace penstock::loader::test
