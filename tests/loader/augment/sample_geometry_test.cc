// SPDX-License-Identifier: Apache-2.0
#include "loader/augment/sample_geometry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "tests/loader/augment/support.h"

namespace penstock::loader {
namespace {

using reference::Bytes;
using ::testing::HasSubstr;

// The value of every pixel is its place: column and row from 1 on, so that zeros are outside.
Bytes Places(int width, int height) {
  Bytes picture(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      picture(x, y, 0) = static_cast<std::uint8_t>(x + 1);
      picture(x, y, 1) = static_cast<std::uint8_t>(y + 1);
    }
  }
  return picture;
}

// The place in the picture, from 1 on, that place `at` of the output shows; 0: outside of the
// picture.
int PlaceOf(int at, int size, bool flip, int window, int scaled, int begin, int crop, int picture) {
  const int kept = window + (flip ? size - 1 - at : at);
  if (kept < 0 || kept >= scaled) return 0;
  const int place = begin + (2 * kept + 1) * crop / (2 * scaled);
  return place < 0 || place >= picture ? 0 : place + 1;
}

void ExpectPixels(const std::string& ops, const Bytes& picture, const SampleKey& key) {
  const AugmentProgram program = Parsed(ops);
  ASSERT_EQ(WhyNoGeometry(program.ops()), std::nullopt) << ops;
  const Size size{picture.width, picture.height};
  const SampleGeometry g = GeometryOf(DrawPlan(program.ops(), size, key), size);
  EXPECT_EQ(g.picture, size);
  ASSERT_EQ(g.window.width, program.format().width);
  ASSERT_EQ(g.window.height, program.format().height);
  const Bytes out = BytesOf(ops, picture, key);
  for (int y = 0; y < out.height; ++y) {
    const int row = PlaceOf(y, out.height, g.flip_y, g.window.y, g.scaled.height, g.crop.y,
                            g.crop.height, size.height);
    for (int x = 0; x < out.width; ++x) {
      const int column = PlaceOf(x, out.width, g.flip_x, g.window.x, g.scaled.width, g.crop.x,
                                 g.crop.width, size.width);
      const bool inside = row != 0 && column != 0;
      ASSERT_EQ(int{out(x, y, 0)}, inside ? column : 0) << ops << " sample " << key.sample;
      ASSERT_EQ(int{out(x, y, 1)}, inside ? row : 0) << ops << " sample " << key.sample;
    }
  }
}

TEST(SampleGeometryTest, TellsWhichPixelOfThePictureEachOutputPixelShows) {
  // Programs with a flip before the resize have only sizes at which no centre falls on the border
  // of two pixels. On a border the mirrored picture would have another nearest pixel.
  for (const char* ops :
       {"random_resized_crop=24:filter=nearest,flip",
        "random_resized_crop=40x17:filter=nearest,vflip,flip", "resize=24x31:nearest",
        "flip,resize=24x32:nearest", "resize=40:nearest,center_crop=32",
        "resize=20:nearest,center_crop=32,flip", "resize=30:nearest,random_crop=24:padding=7,vflip",
        "random_crop=24,flip", "random_crop=60:padding=3,flip,vflip", "flip,random_crop=30x20",
        "flip,vflip,random_crop=40:padding=9", "crop=20:top=3:left=5,resize=33:nearest,flip",
        "crop=20:top=-3:left=40,flip,resize=28:nearest",
        "random_crop=44:padding=4,random_resized_crop=16:filter=nearest,flip",
        "random_resized_crop=24:filter=nearest,flip,random_crop=20:padding=5"}) {
    for (std::uint64_t sample = 0; sample < 40; ++sample) {
      ExpectPixels(ops, Places(53, 37), {1, 2, sample});
      ExpectPixels(ops, Places(24, 61), {1, 2, sample});
    }
  }
}

TEST(SampleGeometryTest, OperationsOnPixelsChangeNothing) {
  const Size size{53, 37};
  const auto of = [&](const char* ops) {
    return GeometryOf(DrawPlan(Parsed(ops).ops(), size, {1, 2, 3}), size);
  };
  const SampleGeometry plain = of("random_resized_crop=24,flip");
  const SampleGeometry after =
      of("random_resized_crop=24,flip,brightness=0.4,hue=0.1,cutout,grid_mask");
  EXPECT_EQ(plain.crop, after.crop);
  EXPECT_EQ(plain.window, after.window);
  EXPECT_EQ(plain.scaled, after.scaled);
  EXPECT_EQ(plain.flip_x, after.flip_x);
  EXPECT_EQ(plain.window, (Region{0, 0, 24, 24}));
}

TEST(SampleGeometryTest, NamesTheOperationThatCannotBeShared) {
  const auto reason = [](const char* ops) { return WhyNoGeometry(Parsed(ops).ops()).value_or(""); };
  EXPECT_THAT(reason("resize=24x24,rotate"), HasSubstr("leave this rotate out"));
  EXPECT_THAT(reason("resize=64,random_resized_crop=24"),
              HasSubstr("leave this random_resized_crop out"));
  EXPECT_THAT(reason("center_crop=64,random_crop=24"), HasSubstr("leave this random_crop out"));
  EXPECT_EQ(reason("resize=64,random_crop=24,flip,vflip,gaussian_blur"), "");
}

}  // namespace
}  // namespace penstock::loader
