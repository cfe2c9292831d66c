// SPDX-License-Identifier: Apache-2.0
//
// The parts of the decoder that need no libjpeg: EXIF, geometry, colour, the choice of the region.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "loader/decode/colour.h"
#include "loader/decode/exif.h"
#include "loader/decode/jpeg_memory.h"
#include "loader/decode/plan.h"
#include "tests/loader/support/jpeg_writer.h"

namespace penstock::loader {
namespace {

using test::JpegSpec;

TEST(ExifTest, OrientationIsFoundInBothByteOrders) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    for (const bool big_endian : {false, true}) {
      JpegSpec spec;
      spec.orientation = orientation;
      spec.big_endian_exif = big_endian;
      EXPECT_EQ(ExifOrientation(test::MakeJpeg(spec)), orientation);
    }
  }
  EXPECT_EQ(ExifOrientation(test::MakeJpeg({})), 1);
  EXPECT_EQ(ExifOrientation({}), 1);
}

TEST(ExifTest, SenselessValueIsAsStored) {
  JpegSpec spec;
  spec.orientation = 9;
  EXPECT_EQ(ExifOrientation(test::MakeJpeg(spec)), 1);
}

TEST(ExifTest, DamagedSegmentIsReadWithinItsBounds) {
  JpegSpec spec;
  spec.width = spec.height = 8;
  spec.orientation = 5;
  const auto file = test::MakeJpeg(spec);
  for (std::size_t size = 0; size < 120; ++size) {
    const std::vector<std::byte> cut(file.begin(),
                                     file.begin() + static_cast<std::ptrdiff_t>(size));
    const int orientation = ExifOrientation(cut);
    EXPECT_TRUE(orientation == 1 || orientation == 5);
  }
  for (std::size_t at = 0; at < 120; ++at) {
    for (const unsigned value : {0U, 1U, 0x7FU, 0x80U, 0xFFU}) {
      auto damaged = file;
      damaged[at] = static_cast<std::byte>(value);
      const int orientation = ExifOrientation(damaged);
      EXPECT_TRUE(orientation >= 1 && orientation <= 8);
    }
  }
}

TEST(OrientationGeometryTest, ThereAndBackIsTheSameRegion) {
  const Size stored = {31, 17};
  for (int exif = 1; exif <= 8; ++exif) {
    const Orientation orientation = Orientation::Of(exif);
    EXPECT_EQ(orientation.Seen(stored), exif < 5 ? stored : (Size{17, 31}));
    const Region seen = {2, 3, 5, 7};
    EXPECT_EQ(orientation.ToSeen(orientation.ToStored(seen, stored), stored), seen) << exif;
  }
  EXPECT_EQ(Orientation::Of(6).ToStored({0, 0, 1, 2}, stored), (Region{0, 16, 2, 1}));
}

TEST(ColourTest, CmykIsExactForEveryPairOfValues) {
  for (const bool inverted : {false, true}) {
    for (int k = 0; k < 256; ++k) {
      std::vector<std::uint8_t> row;
      for (int c = 0; c < 256; ++c) {
        for (const int ink : {c, 255 - c, c / 2, k}) {
          row.push_back(static_cast<std::uint8_t>(ink));
        }
      }
      CmykToRgbInPlace(row.data(), 256, inverted);
      for (int c = 0; c < 256; ++c) {
        const double white = inverted ? k : 255 - k;
        const std::array<int, 3> inks = {c, 255 - c, c / 2};
        for (std::size_t i = 0; i < 3; ++i) {
          const double part = inverted ? inks[i] : 255 - inks[i];
          ASSERT_EQ(row[static_cast<std::size_t>(c) * 3 + i], std::lround(part * white / 255));
        }
      }
    }
  }
}

TEST(PlanTest, ColumnsGrowByOneUnlessNothingIsLeftOut) {
  const auto range = [](int x, int width, int image, int mcu) {
    const ColumnRange got = ColumnsFor({x, 0, width, 1}, image, mcu);
    return std::pair(got.first, got.width);
  };
  EXPECT_EQ(range(0, 100, 100, 16), std::pair(0, 100));
  EXPECT_EQ(range(3, 96, 100, 16), std::pair(0, 100));   // no MCU is left out
  EXPECT_EQ(range(16, 84, 100, 16), std::pair(0, 100));  // needs the column left of it
  EXPECT_EQ(range(17, 83, 100, 16), std::pair(16, 84));
  EXPECT_EQ(range(0, 20, 100, 16), std::pair(0, 21));
  EXPECT_EQ(range(40, 20, 100, 8), std::pair(39, 22));
  EXPECT_EQ(range(0, 1, 100, 16), std::pair(0, 16));  // too few to interpolate
  EXPECT_EQ(range(99, 1, 100, 8), std::pair(84, 16));
  EXPECT_EQ(range(50, 1, 100, 8), std::pair(36, 16));
  EXPECT_EQ(range(2, 1, 5, 8), std::pair(0, 5));
}

TEST(PlanTest, ReducedPixelsCoverTheRegion) {
  for (const int denominator : {1, 2, 4, 8}) {
    for (int x = 0; x < 20; ++x) {
      for (int width = 1; width < 20; ++width) {
        const Region covers = Expanded(Reduced({x, 3, width, 5}, denominator), denominator);
        EXPECT_LE(covers.x, x);
        EXPECT_GE(covers.x + covers.width, x + width);
        EXPECT_LT(covers.width, width + 2 * denominator);
      }
    }
  }
}

TEST(MemoryTest, EndMarkerIsFoundBehindOtherBytes) {
  const auto bytes = [](std::vector<unsigned> values) {
    std::vector<std::byte> out;
    std::transform(values.begin(), values.end(), std::back_inserter(out),
                   [](unsigned value) { return static_cast<std::byte>(value); });
    return out;
  };
  EXPECT_FALSE(HasEndMarker(bytes({})));
  EXPECT_FALSE(HasEndMarker(bytes({0xFF})));
  EXPECT_FALSE(HasEndMarker(bytes({0xD9, 0xFF})));
  EXPECT_TRUE(HasEndMarker(bytes({0xFF, 0xD9})));
  EXPECT_TRUE(HasEndMarker(bytes({1, 2, 0xFF, 0xD9, 0, 0})));
  EXPECT_FALSE(HasEndMarker(bytes({1, 0xFF, 0, 0xD9})));
}

}  // namespace
}  // namespace penstock::loader
