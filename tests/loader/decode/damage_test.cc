// SPDX-License-Identifier: Apache-2.0
//
// Files that are no JPEG, half a JPEG, or a damaged one: the decoder gives an error with a reason,
// never crashes, never gives pixels that nobody wrote, and goes on with the next file.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loader/decode/jpeg_decoder.h"
#include "tests/loader/support/jpeg_writer.h"

namespace penstock::loader {
namespace {

using test::JpegColour;
using test::JpegSpec;
using testing::HasSubstr;
using testing::StartsWith;
using Bytes = std::vector<std::byte>;

// Header and whole picture; "" if both succeed, else the reason.
std::string DecodeAll(JpegDecoder& decoder, std::span<const std::byte> file, Region region = {}) {
  const auto info = decoder.ReadHeader(file);
  if (!info) {
    EXPECT_FALSE(info.error().message.empty());
    return info.error().message;
  }
  if (region.width == 0) {
    region = {0, 0, info->width, info->height};
  }
  const auto decoded = decoder.Decode(region, {});
  if (!decoded) {
    EXPECT_FALSE(decoded.error().message.empty());
    return decoded.error().message;
  }
  return "";
}

void ExpectUsable(JpegDecoder& decoder) {
  JpegSpec spec;
  spec.width = spec.height = 40;
  spec.sampling_x = spec.sampling_y = 2;
  const auto file = test::MakeJpeg(spec);
  const auto whole = test::DecodePlain(file);
  ASSERT_EQ(DecodeAll(decoder, file), "");
  ASSERT_TRUE(decoder.ReadHeader(file));
  const auto decoded = decoder.Decode({0, 0, 40, 40}, {});
  ASSERT_TRUE(decoded);
  for (int y = 0; y < 40; ++y) {
    ASSERT_EQ(std::memcmp(decoded->view.pixels + y * decoded->view.stride,
                          whole.pixels.data() + std::ptrdiff_t{y} * 120, 120),
              0);
  }
}

// Small files of every kind of coding.
std::vector<Bytes> SmallFiles() {
  std::vector<Bytes> out;
  for (const bool progressive : {false, true}) {
    for (const int restarts : {0, 3}) {
      JpegSpec spec;
      spec.width = 37;
      spec.height = 29;
      spec.sampling_x = spec.sampling_y = 2;
      spec.quality = 60;
      spec.progressive = progressive;
      spec.restart_blocks = restarts;
      spec.orientation = 6;
      out.push_back(test::MakeJpeg(spec));
    }
  }
  JpegSpec ycck;
  ycck.width = 20;
  ycck.height = 12;
  ycck.colour = JpegColour::kAdobeYcck;
  out.push_back(test::MakeJpeg(ycck));
  return out;
}

Bytes FromText(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

TEST(DamageTest, FileCutAtAnyByteIsAnError) {
  JpegDecoder strict({.exif = true});
  JpegDecoder tolerant({.exif = true, .strict = false});
  for (const Bytes& file : SmallFiles()) {
    for (std::size_t size = 0; size < file.size(); ++size) {
      const Bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
      const std::string want = size == 0 ? "empty file" : "truncated JPEG";
      ASSERT_EQ(DecodeAll(strict, cut), want) << size;
      ASSERT_EQ(DecodeAll(tolerant, cut, {3, 0, 4, 2}), want) << size;
    }
    ASSERT_EQ(DecodeAll(strict, file), "");
  }
  ExpectUsable(strict);
  ExpectUsable(tolerant);
}

TEST(DamageTest, FileCutAndClosedWithAnEndMarkerIsCorrupt) {
  JpegDecoder strict({});
  for (const Bytes& file : SmallFiles()) {
    // Cut in the data of the first scan, long before its end.
    const std::array<std::byte, 2> scan = {std::byte{0xFF}, std::byte{0xDA}};
    const auto start = std::search(file.begin(), file.end(), scan.begin(), scan.end());
    Bytes cut(file.begin(), start + 30);
    cut.push_back(std::byte{0xFF});
    cut.push_back(std::byte{0xD9});
    EXPECT_THAT(DecodeAll(strict, cut), StartsWith("corrupt JPEG: "));
    // If asked for, the same bytes give pixels, and the damage is counted.
    JpegDecoder tolerant({.strict = false});
    EXPECT_EQ(DecodeAll(tolerant, cut), "");
    EXPECT_GT(tolerant.warnings(), 0U);
  }
  EXPECT_GT(strict.warnings(), 0U);
  ExpectUsable(strict);
}

TEST(DamageTest, BytesAfterTheEndMarkerAreIgnored) {
  JpegDecoder decoder({});
  for (Bytes file : SmallFiles()) {
    file.insert(file.end(), 1000, std::byte{0});
    EXPECT_EQ(DecodeAll(decoder, file), "");
    const Bytes text = FromText("a motion picture follows");
    file.insert(file.end(), text.begin(), text.end());
    EXPECT_EQ(DecodeAll(decoder, file), "");
  }
  EXPECT_EQ(decoder.warnings(), 0U);
}

TEST(DamageTest, AnyByteFlippedGivesPixelsOrAReason) {
  // One decoder of each kind for thousands of damaged files: no file may affect the next one.
  JpegDecoder strict({.exif = true, .max_pixels = 1 << 16});
  JpegDecoder tolerant({.reduce = 1, .exif = true, .strict = false, .max_pixels = 1 << 16});
  std::uint64_t errors = 0;
  for (Bytes file : SmallFiles()) {
    for (std::size_t at = 0; at < file.size(); ++at) {
      const std::byte kept = file[at];
      for (const unsigned mask : {0x01U, 0x10U, 0x80U, 0xFFU}) {
        file[at] = kept ^ static_cast<std::byte>(mask);
        errors += DecodeAll(strict, file).empty() ? 0U : 1U;
        if (const auto info = tolerant.ReadHeader(file)) {
          const Region region = {info->width / 3, info->height / 3, info->width - info->width / 3,
                                 info->height - info->height / 3};
          const auto decoded = tolerant.Decode(region, {region.width / 2, region.height / 2});
          if (decoded) {
            EXPECT_LE(decoded->covers.x, region.x);
            EXPECT_LE(decoded->covers.y, region.y);
          }
        }
      }
      file[at] = kept;
    }
  }
  EXPECT_GT(errors, 0U);
  ExpectUsable(strict);
  ExpectUsable(tolerant);
}

TEST(DamageTest, OtherFilesAreNamed) {
  JpegDecoder decoder({});
  EXPECT_EQ(DecodeAll(decoder, {}), "empty file");
  EXPECT_EQ(DecodeAll(decoder, FromText("\x89PNG\r\n\x1a\n and so on")),
            "not a JPEG: starts with 89 50 4e 47 (PNG)");
  EXPECT_EQ(DecodeAll(decoder, FromText("RIFF....WEBPVP8 ")),
            "not a JPEG: starts with 52 49 46 46 (WebP)");
  EXPECT_EQ(DecodeAll(decoder, FromText("<html>404</html>")),
            "not a JPEG: starts with 3c 68 74 6d (HTML or XML)");
  EXPECT_EQ(DecodeAll(decoder, Bytes(100, std::byte{0})), "not a JPEG: starts with 00 00 00 00");
  EXPECT_EQ(DecodeAll(decoder, Bytes(1, std::byte{7})), "not a JPEG: starts with 07");
  EXPECT_EQ(DecodeAll(decoder, FromText("\xFF")), "truncated JPEG");
  EXPECT_EQ(DecodeAll(decoder, FromText("\xFF\xD8")), "truncated JPEG");
  EXPECT_THAT(DecodeAll(decoder, FromText("\xFF\xD8 this is not a marker at all")),
              StartsWith("truncated JPEG"));
  ExpectUsable(decoder);
}

TEST(DamageTest, UnsupportedKindsSayWhy) {
  Bytes file = test::MakeJpeg({});
  const std::array<std::byte, 2> frame = {std::byte{0xFF}, std::byte{0xC0}};
  const auto at = std::search(file.begin(), file.end(), frame.begin(), frame.end()) - file.begin();
  JpegDecoder decoder({});
  Bytes lossless = file;
  lossless[static_cast<std::size_t>(at) + 1] = std::byte{0xC3};
  EXPECT_THAT(DecodeAll(decoder, lossless), StartsWith("unsupported JPEG: "));
  Bytes deep = file;
  deep[static_cast<std::size_t>(at) + 4] = std::byte{12};
  EXPECT_THAT(DecodeAll(decoder, deep), HasSubstr("12"));
  ExpectUsable(decoder);
}

TEST(DamageTest, PicturesBeyondTheLimitAreRefused) {
  const auto file = test::MakeJpeg({});  // 64 x 48
  JpegDecoder enough({.max_pixels = 64 * 48});
  EXPECT_EQ(DecodeAll(enough, file), "");
  JpegDecoder small({.max_pixels = 64 * 48 - 1});
  EXPECT_EQ(DecodeAll(small, file), "JPEG of 64 x 48 pixels, more than 3071");
  // A header of a few bytes that promises four thousand million pixels.
  Bytes huge = file;
  const std::array<std::byte, 2> frame = {std::byte{0xFF}, std::byte{0xC0}};
  const auto at = std::search(huge.begin(), huge.end(), frame.begin(), frame.end()) - huge.begin();
  for (std::ptrdiff_t i = 5; i < 9; ++i) {
    huge[static_cast<std::size_t>(at + i)] = std::byte{0xFF};
  }
  JpegDecoder usual({});
  EXPECT_NE(DecodeAll(usual, huge), "");
  EXPECT_EQ(usual.buffer_bytes(), 0U);
}

TEST(DamageTest, FilesOfTooManyScansAreRefused) {
  JpegSpec spec;
  spec.progressive = true;  // ten scans
  const auto file = test::MakeJpeg(spec);
  JpegDecoder enough({.max_scans = 10});
  EXPECT_EQ(DecodeAll(enough, file), "");
  JpegDecoder few({.max_scans = 9});
  EXPECT_EQ(DecodeAll(few, file), "JPEG of more than 9 scans");
  EXPECT_THAT(DecodeAll(few, test::MakeJpeg({})), "");
}

// A progressive file may stop after any scan. libjpeg then smooths, and the result must not depend
// on the region.
TEST(DamageTest, ProgressiveFileWithoutItsLastScansHasRegionsLikeTheWhole) {
  JpegSpec spec;
  spec.width = 120;
  spec.height = 90;
  spec.sampling_x = spec.sampling_y = 2;
  spec.progressive = true;
  const Bytes file = test::MakeJpeg(spec);
  for (int scans = 1; scans < 10; ++scans) {
    Bytes cut;
    int seen = 0;
    for (std::size_t i = 0; i + 1 < file.size(); ++i) {
      const bool scan = file[i] == std::byte{0xFF} && file[i + 1] == std::byte{0xDA};
      if (scan && ++seen > scans) {
        break;
      }
      cut.push_back(file[i]);
    }
    cut.push_back(std::byte{0xFF});
    cut.push_back(std::byte{0xD9});
    const auto whole = test::DecodePlain(cut);
    JpegDecoder decoder({});
    ASSERT_TRUE(decoder.ReadHeader(cut));
    const Region region = {50, 40, 37, 33};
    const auto decoded = decoder.Decode(region, {});
    ASSERT_TRUE(decoded) << decoded.error().message << " after " << scans;
    for (int y = 0; y < region.height; ++y) {
      const auto from = static_cast<std::ptrdiff_t>((region.y + y) * 120 + region.x) * 3;
      ASSERT_EQ(std::memcmp(decoded->view.pixels + y * decoded->view.stride,
                            whole.pixels.data() + from, static_cast<std::size_t>(region.width) * 3),
                0)
          << "row " << y << " after " << scans << " scans";
    }
  }
}

// Removes every segment with the marker.
Bytes Without(const Bytes& file, unsigned marker) {
  Bytes out(file.begin(), file.begin() + 2);
  std::size_t at = 2;
  while (std::to_integer<unsigned>(file[at + 1]) != 0xDA) {
    const std::size_t length = 2 + (std::to_integer<std::size_t>(file[at + 2]) << 8 |
                                    std::to_integer<std::size_t>(file[at + 3]));
    if (std::to_integer<unsigned>(file[at + 1]) != marker) {
      const auto from = file.begin() + static_cast<std::ptrdiff_t>(at);
      out.insert(out.end(), from, from + static_cast<std::ptrdiff_t>(length));
    }
    at += length;
  }
  out.insert(out.end(), file.begin() + static_cast<std::ptrdiff_t>(at), file.end());
  return out;
}

TEST(DamageTest, TablesOfTheFileBeforeAreForgotten) {
  JpegSpec other;
  other.quality = 20;
  other.optimize = true;
  JpegDecoder decoder({});
  ASSERT_EQ(DecodeAll(decoder, test::MakeJpeg(other)), "");
  const Bytes file = test::MakeJpeg({});
  EXPECT_EQ(DecodeAll(decoder, Without(file, 0xDB)),
            "damaged JPEG: Quantization table 0x00 was not defined");
  // A frame of Motion JPEG leaves out the standard's Huffman tables.
  ASSERT_EQ(DecodeAll(decoder, test::MakeJpeg(other)), "");
  const Bytes frame = Without(file, 0xC4);
  ASSERT_LT(frame.size(), file.size());
  const auto want = test::DecodePlain(file);
  ASSERT_TRUE(decoder.ReadHeader(frame));
  const auto decoded = decoder.Decode({0, 0, 64, 48}, {});
  ASSERT_TRUE(decoded) << decoded.error().message;
  for (int y = 0; y < 48; ++y) {
    EXPECT_EQ(std::memcmp(decoded->view.pixels + y * decoded->view.stride,
                          want.pixels.data() + std::ptrdiff_t{y} * 192, 192),
              0);
  }
}

TEST(DamageTest, DecodeWithoutAHeaderIsRefused) {
  JpegDecoder decoder({});
  const auto none = decoder.Decode({0, 0, 1, 1}, {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::kUsage);
  EXPECT_FALSE(decoder.ReadHeader(FromText("nothing")));
  EXPECT_FALSE(decoder.Decode({0, 0, 1, 1}, {}));
  ExpectUsable(decoder);
}

}  // namespace
}  // namespace penstock::loader
