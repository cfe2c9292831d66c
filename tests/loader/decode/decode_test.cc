// SPDX-License-Identifier: Apache-2.0
//
// Compares the pixels of every region, size and orientation with libjpeg's own decoding of the
// whole picture.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "loader/decode/jpeg_decoder.h"
#include "tests/loader/support/jpeg_writer.h"

namespace penstock::loader {
namespace {

using test::JpegColour;
using test::JpegSpec;
using test::PlainImage;

// "" if the view shows `whole` from (x, y) on, else where it first differs.
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

// Regions that begin and end before, on and after the borders of MCUs and of the picture.
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
  // Not all combinations, since the columns and the rows of a region do not affect each other.
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

class ColourTest : public testing::TestWithParam<JpegColour> {};

// The file's four inks to RGB in doubles.
PlainImage ToRgb(const PlainImage& cmyk, bool inverted) {
  PlainImage out{cmyk.width, cmyk.height, 3, {}};
  for (std::size_t i = 0; i + 3 < cmyk.pixels.size(); i += 4) {
    const double k = inverted ? cmyk.pixels[i + 3] : 255 - cmyk.pixels[i + 3];
    for (std::size_t c = 0; c < 3; ++c) {
      const double ink = inverted ? cmyk.pixels[i + c] : 255 - cmyk.pixels[i + c];
      out.pixels.push_back(static_cast<std::uint8_t>(ink * k / 255.0 + 0.5));
    }
  }
  return out;
}

TEST_P(ColourTest, RegionsAreRgb) {
  for (const int sampling : {1, 2}) {
    for (const bool progressive : {false, true}) {
      JpegSpec spec;
      spec.width = 70;
      spec.height = 51;
      spec.colour = GetParam();
      spec.sampling_x = spec.sampling_y = sampling;
      spec.progressive = progressive;
      const auto file = test::MakeJpeg(spec);
      PlainImage whole = test::DecodePlain(file);
      if (whole.channels == 4) {
        whole = ToRgb(whole, GetParam() != JpegColour::kCmyk);
      }
      JpegDecoder decoder({});
      const auto info = decoder.ReadHeader(file);
      ASSERT_TRUE(info) << info.error().message;
      EXPECT_EQ(info->grey, GetParam() == JpegColour::kGrey);
      EXPECT_EQ(info->cmyk, GetParam() >= JpegColour::kCmyk);
      for (const Region& region : Regions(spec.width, spec.height)) {
        const auto decoded = decoder.Decode(region, {});
        ASSERT_TRUE(decoded) << decoded.error().message;
        EXPECT_EQ(Difference(decoded->view, whole, region.x, region.y), "")
            << region.x << "," << region.y << " " << region.width << "x" << region.height;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ColourTest,
                         testing::Values(JpegColour::kYcc, JpegColour::kRgb, JpegColour::kGrey,
                                         JpegColour::kCmyk, JpegColour::kAdobeCmyk,
                                         JpegColour::kAdobeYcck));

TEST(DecodeTest, CmykIsThePictureThatWasEncoded) {
  for (const JpegColour colour :
       {JpegColour::kCmyk, JpegColour::kAdobeCmyk, JpegColour::kAdobeYcck}) {
    JpegSpec spec;
    spec.colour = colour;
    spec.quality = 100;
    const auto picture = test::MakePicture(spec.width, spec.height);
    const auto file = test::EncodeJpeg(spec, picture);
    JpegDecoder decoder({});
    ASSERT_TRUE(decoder.ReadHeader(file));
    const auto decoded = decoder.Decode({0, 0, spec.width, spec.height}, {});
    ASSERT_TRUE(decoded);
    std::int64_t sum = 0;
    for (int y = 0; y < spec.height; ++y) {
      for (int i = 0; i < 3 * spec.width; ++i) {
        const int want = picture[static_cast<std::size_t>(y * spec.width * 3 + i)];
        sum += std::abs(want - decoded->view.pixels[y * decoded->view.stride + i]);
      }
    }
    EXPECT_LT(static_cast<double>(sum) / static_cast<double>(picture.size()), 2.5);
  }
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
