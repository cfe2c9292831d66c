// SPDX-License-Identifier: Apache-2.0
//
// Compares the pixels of every region and size with libjpeg's own decoding of the whole picture.
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "loader/decode/jpeg_decoder.h"
#include "tests/loader/decode/regions.h"
#include "tests/loader/support/jpeg_writer.h"

namespace penstock::loader {
namespace {

using test::Difference;
using test::JpegColour;
using test::JpegSpec;
using test::PlainImage;
using test::Regions;

struct Case {
  std::string name;
  JpegSpec spec;
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.name;
}

std::vector<Case> Cases() {
  std::vector<Case> out;
  const std::vector<std::pair<int, int>> samplings = {{1, 1}, {2, 1}, {2, 2}, {1, 2},
                                                      {4, 1}, {4, 2}, {2, 4}, {1, 4}};
  for (const auto& [h, v] : samplings) {
    for (const bool progressive : {false, true}) {
      for (const bool restarts : {false, true}) {
        JpegSpec spec;
        spec.width = 93;
        spec.height = 85;
        spec.sampling_x = h;
        spec.sampling_y = v;
        spec.progressive = progressive;
        spec.restart_blocks = restarts ? 5 : 0;
        out.push_back({"h" + std::to_string(h) + "v" + std::to_string(v) +
                           (progressive ? "Progressive" : "Baseline") +
                           (restarts ? "Restarts" : ""),
                       spec});
      }
    }
  }
  return out;
}

class DecodeGridTest : public testing::TestWithParam<Case> {};

void ExpectRegionsEqualWhole(const JpegSpec& spec, DecodeOptions options) {
  options.own_huffman_from = 0;
  const auto file = test::MakeJpeg(spec);
  const PlainImage whole = test::DecodePlain(
      file, {.fancy_upsampling = options.fancy_upsampling, .fast_dct = options.fast_dct});
  JpegDecoder decoder(options);
  const auto info = decoder.ReadHeader(file);
  ASSERT_TRUE(info) << info.error().message;
  std::uint64_t regions = 0;
  for (const Region& region : Regions(spec.width, spec.height)) {
    ++regions;
    const auto decoded = decoder.Decode(region, {});
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(decoded->covers, region);
    EXPECT_EQ(decoded->denominator, 1);
    EXPECT_EQ((Size{decoded->view.width, decoded->view.height}),
              (Size{region.width, region.height}));
    EXPECT_EQ(Difference(decoded->view, whole, region.x, region.y), "")
        << region.x << "," << region.y << " " << region.width << "x" << region.height;
  }
  EXPECT_EQ(decoder.warnings(), 0U);
  EXPECT_EQ(decoder.own_huffman_decodes(), options.own_huffman && !spec.progressive ? regions : 0U);
}

TEST_P(DecodeGridTest, RegionEqualsWhole) {
  ExpectRegionsEqualWhole(GetParam().spec, {});
}

TEST_P(DecodeGridTest, RegionEqualsWholeByLibjpegAlone) {
  ExpectRegionsEqualWhole(GetParam().spec, {.own_huffman = false});
}

TEST_P(DecodeGridTest, RegionEqualsWholeInFastModes) {
  ExpectRegionsEqualWhole(GetParam().spec, {.fancy_upsampling = false, .fast_dct = true});
}

TEST_P(DecodeGridTest, ReducedRegionEqualsReducedWhole) {
  const JpegSpec& spec = GetParam().spec;
  const auto file = test::MakeJpeg(spec);
  JpegDecoder decoder({.reduce = 1});
  ASSERT_TRUE(decoder.ReadHeader(file));
  for (const int denominator : {2, 4, 8}) {
    const PlainImage whole = test::DecodePlain(file, {.denominator = denominator});
    for (const Region& region : Regions(spec.width, spec.height)) {
      const Size target = {region.width / denominator, region.height / denominator};
      const auto decoded = decoder.Decode(region, target);
      ASSERT_TRUE(decoded) << decoded.error().message;
      if (decoded->denominator != denominator) {  // the picture is too small for this one
        EXPECT_TRUE(target.width == 0 || target.height == 0);
        continue;
      }
      EXPECT_LE(decoded->covers.x, region.x);
      EXPECT_LE(decoded->covers.y, region.y);
      EXPECT_GE(decoded->covers.x + decoded->covers.width, region.x + region.width);
      EXPECT_GE(decoded->covers.y + decoded->covers.height, region.y + region.height);
      EXPECT_EQ(decoded->covers.width, decoded->view.width * denominator);
      EXPECT_EQ(decoded->covers.height, decoded->view.height * denominator);
      EXPECT_EQ(Difference(decoded->view, whole, decoded->covers.x / denominator,
                           decoded->covers.y / denominator),
                "")
          << "1/" << denominator << " " << region.x << "," << region.y << " " << region.width << "x"
          << region.height;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Samplings, DecodeGridTest, testing::ValuesIn(Cases()),
                         [](const auto& each) { return each.param.name; });

TEST(DecodeTest, OddSizesAreDecodedToTheLastPixel) {
  JpegDecoder decoder({});
  for (const auto& [width, height] : std::vector<std::pair<int, int>>{{1, 1},
                                                                      {2, 2},
                                                                      {3, 5},
                                                                      {7, 9},
                                                                      {8, 8},
                                                                      {16, 16},
                                                                      {17, 15},
                                                                      {33, 1},
                                                                      {1, 40},
                                                                      {100, 3}}) {
    for (const int sampling : {1, 2}) {
      JpegSpec spec;
      spec.width = width;
      spec.height = height;
      spec.sampling_x = spec.sampling_y = sampling;
      const auto file = test::MakeJpeg(spec);
      const PlainImage whole = test::DecodePlain(file);
      ASSERT_TRUE(decoder.ReadHeader(file));
      for (const Region& region : {Region{0, 0, width, height}, Region{width - 1, height - 1, 1, 1},
                                   Region{width / 2, height / 2, width - width / 2, 1}}) {
        const auto decoded = decoder.Decode(region, {});
        ASSERT_TRUE(decoded) << decoded.error().message;
        EXPECT_EQ(Difference(decoded->view, whole, region.x, region.y), "")
            << width << "x" << height;
      }
    }
  }
}

TEST(DecodeTest, HeaderTellsSizeAndKind) {
  JpegSpec spec;
  spec.width = 50;
  spec.height = 70;
  spec.sampling_x = 2;
  spec.progressive = true;
  spec.orientation = 6;
  const auto file = test::MakeJpeg(spec);
  const auto as_stored = JpegDecoder({}).ReadHeader(file);
  ASSERT_TRUE(as_stored);
  EXPECT_EQ((Size{as_stored->width, as_stored->height}), (Size{50, 70}));
  EXPECT_TRUE(as_stored->progressive);
  EXPECT_FALSE(as_stored->grey);
  EXPECT_FALSE(as_stored->cmyk);
  EXPECT_EQ(as_stored->orientation, 1);
  EXPECT_EQ(as_stored->subsampling_x, 2);
  EXPECT_EQ(as_stored->subsampling_y, 1);
  const auto as_seen = JpegDecoder({.exif = true}).ReadHeader(file);
  ASSERT_TRUE(as_seen);
  EXPECT_EQ((Size{as_seen->width, as_seen->height}), (Size{70, 50}));
  EXPECT_EQ(as_seen->orientation, 6);
}

TEST(DecodeTest, ReductionLeavesThePixelsWanted) {
  JpegSpec spec;
  spec.width = 400;
  spec.height = 300;
  const auto file = test::MakeJpeg(spec);
  const Region all = {0, 0, 400, 300};
  const auto denominator = [&](double reduce, Size target) {
    JpegDecoder decoder({.reduce = reduce});
    EXPECT_TRUE(decoder.ReadHeader(file));
    const auto decoded = decoder.Decode(all, target);
    return decoded ? decoded->denominator : 0;
  };
  EXPECT_EQ(denominator(0, {10, 10}), 1);
  EXPECT_EQ(denominator(1, {}), 1);
  EXPECT_EQ(denominator(1, {200, 150}), 2);
  EXPECT_EQ(denominator(1, {201, 150}), 1);
  EXPECT_EQ(denominator(1, {50, 37}), 8);
  EXPECT_EQ(denominator(2, {50, 37}), 4);
}

TEST(DecodeTest, SecondPassOverFilesAllocatesNothing) {
  std::vector<std::vector<std::byte>> files;
  for (int i = 0; i < 6; ++i) {
    JpegSpec spec;
    spec.width = 40 + 30 * i;
    spec.height = 200 - 20 * i;
    spec.orientation = i + 1;
    spec.colour = i == 3 ? JpegColour::kAdobeCmyk : JpegColour::kYcc;
    files.push_back(test::MakeJpeg(spec));
  }
  JpegDecoder decoder({.exif = true});
  const auto pass = [&] {
    for (const auto& file : files) {
      const auto info = decoder.ReadHeader(file);
      EXPECT_TRUE(info);
      EXPECT_TRUE(decoder.Decode({0, 0, info->width, info->height}, {}));
    }
  };
  pass();
  const std::size_t held = decoder.buffer_bytes();
  pass();
  EXPECT_EQ(decoder.buffer_bytes(), held);
  EXPECT_LE(held, 2U * (192 * 4 + 64) * 202);
}

TEST(DecodeTest, RegionOutsideThePictureIsRefused) {
  const auto file = test::MakeJpeg({});  // 64 x 48
  JpegDecoder decoder({});
  ASSERT_TRUE(decoder.ReadHeader(file));
  for (const Region& region :
       {Region{-1, 0, 5, 5}, Region{0, -1, 5, 5}, Region{0, 0, 0, 5}, Region{0, 0, 5, -1},
        Region{60, 0, 5, 5}, Region{0, 44, 5, 5}, Region{2147483647, 0, 2147483647, 1}}) {
    const auto decoded = decoder.Decode(region, {});
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().kind, ErrorKind::kUsage);
  }
  EXPECT_TRUE(decoder.Decode({0, 0, 64, 48}, {}));
}

}  // namespace
}  // namespace penstock::loader
