// SPDX-License-Identifier: Apache-2.0
//
// Pictures with an orientation are decoded as a viewer shows them: every region, reduced or not.
#include <cstddef>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "loader/decode/jpeg_decoder.h"
#include "tests/loader/decode/regions.h"
#include "tests/loader/support/jpeg_writer.h"

namespace penstock::loader {
namespace {

using test::Difference;
using test::JpegSpec;
using test::PlainImage;
using test::Regions;

// What a viewer shows, written down pixel by pixel from the definition of the tag.
PlainImage Seen(const PlainImage& stored, int orientation) {
  PlainImage out = stored;
  const bool turned = orientation >= 5;
  out.width = turned ? stored.height : stored.width;
  out.height = turned ? stored.width : stored.height;
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) {
      const int w = stored.width - 1;
      const int h = stored.height - 1;
      const std::vector<std::pair<int, int>> from = {// x, y of the stored pixel
                                                     {x, y},         {w - x, y}, {w - x, h - y},
                                                     {x, h - y},     {y, x},     {y, h - x},
                                                     {w - y, h - x}, {w - y, x}};
      const auto [sx, sy] = from[static_cast<std::size_t>(orientation - 1)];
      for (int c = 0; c < 3; ++c) {
        out.pixels[static_cast<std::size_t>((y * out.width + x) * 3 + c)] =
            stored.pixels[static_cast<std::size_t>((sy * stored.width + sx) * 3 + c)];
      }
    }
  }
  return out;
}

class OrientationTest : public testing::TestWithParam<int> {};

TEST_P(OrientationTest, RegionIsOfThePictureAsSeen) {
  for (const bool big_endian : {false, true}) {
    JpegSpec spec;
    spec.width = 90;
    spec.height = 61;
    spec.sampling_x = spec.sampling_y = 2;
    spec.orientation = GetParam();
    spec.big_endian_exif = big_endian;
    const auto file = test::MakeJpeg(spec);
    const PlainImage seen = Seen(test::DecodePlain(file), GetParam());
    JpegDecoder decoder({.exif = true});
    const auto info = decoder.ReadHeader(file);
    ASSERT_TRUE(info) << info.error().message;
    ASSERT_EQ((Size{info->width, info->height}), (Size{seen.width, seen.height}));
    for (const Region& region : Regions(seen.width, seen.height)) {
      const auto decoded = decoder.Decode(region, {});
      ASSERT_TRUE(decoded) << decoded.error().message;
      EXPECT_EQ(decoded->covers, region);
      EXPECT_EQ(Difference(decoded->view, seen, region.x, region.y), "")
          << region.x << "," << region.y << " " << region.width << "x" << region.height;
    }
  }
}

TEST_P(OrientationTest, ReducedRegionKnowsWhatItCovers) {
  JpegSpec spec;
  spec.width = 91;  // no multiple of the denominator: a mirrored view begins before the picture
  spec.height = 62;
  spec.orientation = GetParam();
  const auto file = test::MakeJpeg(spec);
  const PlainImage seen = Seen(test::DecodePlain(file, {.denominator = 4}), GetParam());
  JpegDecoder decoder({.reduce = 1, .exif = true});
  const auto info = decoder.ReadHeader(file);
  ASSERT_TRUE(info) << info.error().message;
  const Region all = {0, 0, info->width, info->height};
  const auto whole = decoder.Decode(all, {info->width / 4, info->height / 4});
  ASSERT_TRUE(whole) << whole.error().message;
  ASSERT_EQ(whole->denominator, 4);
  const Region covers = whole->covers;
  EXPECT_EQ(Difference(whole->view, seen, 0, 0), "");
  EXPECT_GT(covers.x, -4);
  EXPECT_GT(covers.y, -4);
  EXPECT_EQ(covers.width, seen.width * 4);
  EXPECT_EQ(covers.height, seen.height * 4);
  const Region region = {21, 17, 33, 30};
  const auto part = decoder.Decode(region, {8, 7});
  ASSERT_TRUE(part) << part.error().message;
  ASSERT_EQ(part->denominator, 4);
  EXPECT_EQ((part->covers.x - covers.x) % 4, 0);
  EXPECT_EQ((part->covers.y - covers.y) % 4, 0);
  EXPECT_EQ(Difference(part->view, seen, (part->covers.x - covers.x) / 4,
                       (part->covers.y - covers.y) / 4),
            "");
}

INSTANTIATE_TEST_SUITE_P(All, OrientationTest, testing::Range(1, 9));

TEST(DecodeTest, OrientationIsFoundBehindBytesThatLibjpegPassesOver) {
  JpegSpec spec;
  spec.orientation = 6;
  const auto file = test::MakeJpeg(spec);
  const std::vector<std::vector<unsigned>> strays = {
      {0x00}, {0x12, 0x34, 0x56}, {0xFF}, {0xFF, 0x00}, {0xFF, 0x01}, {0xFF, 0xD7}};
  for (const std::vector<unsigned>& stray : strays) {
    auto changed = file;
    auto at = changed.begin() + 2;  // after SOI
    for (const unsigned value : stray) {
      at = changed.insert(at, static_cast<std::byte>(value)) + 1;
    }
    JpegDecoder decoder({.exif = true});
    const auto info = decoder.ReadHeader(changed);
    ASSERT_TRUE(info) << info.error().message;
    EXPECT_EQ(info->orientation, 6) << stray.front();
  }
}

TEST(DecodeTest, OrientationIsIgnoredUnlessAskedFor) {
  JpegSpec spec;
  spec.orientation = 3;
  const auto file = test::MakeJpeg(spec);
  JpegDecoder decoder({});
  ASSERT_TRUE(decoder.ReadHeader(file));
  const auto decoded = decoder.Decode({0, 0, spec.width, spec.height}, {});
  ASSERT_TRUE(decoded);
  EXPECT_EQ(Difference(decoded->view, test::DecodePlain(file), 0, 0), "");
}

}  // namespace
}  // namespace penstock::loader
