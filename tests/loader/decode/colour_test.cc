// SPDX-License-Identifier: Apache-2.0
//
// Pictures of every colour space are decoded to RGB.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
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

}  // namespace
}  // namespace penstock::loader
