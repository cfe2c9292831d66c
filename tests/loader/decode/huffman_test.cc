// SPDX-License-Identifier: Apache-2.0
//
// Compares our Huffman decoder with libjpeg's: whole files must give the same pixels, all others
// the same error, word for word.
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loader/decode/bit_reader.h"
#include "loader/decode/huffman_tables.h"
#include "loader/decode/huffman_trial.h"
#include "loader/decode/jpeg_decoder.h"
#include "tests/loader/support/jpeg_writer.h"

namespace penstock::loader {
namespace {

using test::JpegColour;
using test::JpegSpec;
using Bytes = std::vector<std::byte>;

std::vector<std::uint8_t> Pixels(const ImageView& view) {
  std::vector<std::uint8_t> out;
  for (int y = 0; y < view.height; ++y) {
    const std::uint8_t* const row = view.pixels + y * view.stride;
    out.insert(out.end(), row, row + std::ptrdiff_t{3} * view.width);
  }
  return out;
}

struct Answer {
  std::string reason;  // "": there are pixels
  std::vector<std::uint8_t> pixels;
};

Answer DecodeWith(JpegDecoder& decoder, const Bytes& file, bool part, int denominator) {
  const auto info = decoder.ReadHeader(file);
  if (!info) {
    return {info.error().message, {}};
  }
  const Region region = part ? Region{info->width / 3, info->height / 3, (info->width + 1) / 2,
                                      (info->height + 1) / 2}
                             : Region{0, 0, info->width, info->height};
  const auto decoded = decoder.Decode(
      region,
      denominator == 1 ? Size{} : Size{region.width / denominator, region.height / denominator});
  return decoded ? Answer{"", Pixels(decoded->view)} : Answer{decoded.error().message, {}};
}

// Checks that the two decoders do not differ. Returns how often our Huffman decoder was used.
std::uint64_t ExpectAgreement(JpegDecoder& own, JpegDecoder& libjpeg, const Bytes& file) {
  const std::uint64_t before = own.own_huffman_decodes();
  for (const bool part : {false, true}) {
    for (const int denominator : {1, 2, 8}) {
      const Answer mine = DecodeWith(own, file, part, denominator);
      const Answer theirs = DecodeWith(libjpeg, file, part, denominator);
      EXPECT_EQ(mine.reason, theirs.reason);
      EXPECT_TRUE(mine.pixels == theirs.pixels)
          << "other pixels, part " << part << ", 1/" << denominator;
    }
  }
  EXPECT_EQ(own.warnings(), libjpeg.warnings());
  return own.own_huffman_decodes() - before;
}
constexpr std::uint64_t kAll = 6;  // decodes of ExpectAgreement()

class HuffmanTest : public testing::Test {
 protected:
  std::uint64_t Compare(const Bytes& file) { return ExpectAgreement(own_, libjpeg_, file); }

  JpegDecoder own_{{.own_huffman_from = 0, .reduce = 1}};
  JpegDecoder libjpeg_{{.own_huffman = false, .reduce = 1}};
};

TEST_F(HuffmanTest, TakesPartInThisLibjpeg) {
  EXPECT_TRUE(HuffmanSeamFits());
}

// Smooth pictures have short codes and long runs. Noise at quality 100 has full blocks, long codes
// and coefficients of ten bits. Optimised tables differ from file to file.
TEST_F(HuffmanTest, EveryQualityAndTableGivesLibjpegsPixels) {
  std::mt19937 random(1);  // NOLINT: the same pictures every time
  std::vector<std::uint8_t> noise(std::size_t{3} * 61 * 47);
  for (std::uint8_t& sample : noise) {
    sample = static_cast<std::uint8_t>(random() % 2 * 255);
  }
  const std::vector<std::uint8_t> flat(noise.size(), 77);
  for (int quality = 1; quality <= 100; quality += quality < 90 ? 11 : 2) {
    for (const bool optimize : {false, true}) {
      JpegSpec spec;
      spec.width = 61;
      spec.height = 47;
      spec.quality = quality;
      spec.optimize = optimize;
      spec.sampling_x = spec.sampling_y = 1 + quality % 2;
      SCOPED_TRACE(testing::Message() << "quality " << quality << ", optimised " << optimize);
      EXPECT_EQ(Compare(test::MakeJpeg(spec, static_cast<std::uint32_t>(quality))), kAll);
      EXPECT_EQ(Compare(test::EncodeJpeg(spec, noise)), kAll);
      EXPECT_EQ(Compare(test::EncodeJpeg(spec, flat)), kAll);
    }
  }
}

TEST_F(HuffmanTest, ColoursAndRestartsGiveLibjpegsPixels) {
  for (const JpegColour colour : {JpegColour::kYcc, JpegColour::kRgb, JpegColour::kGrey,
                                  JpegColour::kCmyk, JpegColour::kAdobeYcck}) {
    for (const int restarts : {0, 1, 2, 9}) {
      JpegSpec spec;
      spec.width = 150;
      spec.height = 70;
      spec.colour = colour;
      spec.restart_blocks = restarts;
      SCOPED_TRACE(testing::Message()
                   << "colour " << static_cast<int>(colour) << ", restarts " << restarts);
      EXPECT_EQ(Compare(test::MakeJpeg(spec)), kAll);
    }
  }
}

TEST_F(HuffmanTest, SmallFilesAreTakenOnceTheirTablesComeAgain) {
  JpegDecoder decoder({});
  JpegSpec spec;
  spec.optimize = true;
  const Bytes first = test::MakeJpeg(spec, 1);
  const Bytes second = test::MakeJpeg(spec, 2);
  for (const std::uint64_t expected : {0U, 1U, 2U}) {
    EXPECT_EQ(DecodeWith(decoder, first, false, 1).reason, "");
    EXPECT_EQ(decoder.own_huffman_decodes(), expected);
  }
  EXPECT_EQ(DecodeWith(decoder, second, false, 1).reason, "");
  EXPECT_EQ(decoder.own_huffman_decodes(), 2U);
}

TEST_F(HuffmanTest, ProgressiveFilesAreLeftToLibjpeg) {
  JpegSpec spec;
  spec.progressive = true;
  EXPECT_EQ(Compare(test::MakeJpeg(spec)), 0U);
}

TEST_F(HuffmanTest, DamageGetsLibjpegsAnswer) {
  JpegDecoder own({.own_huffman_from = 0, .reduce = 1, .strict = false});
  JpegDecoder libjpeg({.own_huffman = false, .reduce = 1, .strict = false});
  std::uint64_t decoded = 0;
  std::uint64_t files = 0;
  for (const int restarts : {0, 3}) {
    JpegSpec spec;
    spec.width = 41;
    spec.height = 33;
    spec.quality = 75;
    spec.sampling_x = spec.sampling_y = 2;
    spec.restart_blocks = restarts;
    Bytes file = test::MakeJpeg(spec);
    for (std::size_t at = 0; at < file.size(); ++at) {
      const std::byte kept = file[at];
      for (const unsigned mask : {0x04U, 0xFFU}) {
        file[at] = kept ^ static_cast<std::byte>(mask);
        SCOPED_TRACE(testing::Message()
                     << "byte " << at << ", mask " << mask << ", restarts " << restarts);
        Compare(file);
        decoded += ExpectAgreement(own, libjpeg, file);
        ++files;
        ASSERT_FALSE(HasFailure());
      }
      file[at] = kept;
    }
  }
  EXPECT_GT(decoded, 0U);
  EXPECT_LT(decoded, files * kAll);  // some were left to libjpeg
}

TEST_F(HuffmanTest, RestartMarkersOutOfOrderAreLeftToLibjpeg) {
  JpegSpec spec;
  spec.width = 200;
  spec.height = 60;
  spec.restart_blocks = 10;
  const Bytes whole = test::MakeJpeg(spec);
  std::vector<std::size_t> markers;
  for (std::size_t i = 0; i + 1 < whole.size(); ++i) {
    const auto second = std::to_integer<unsigned>(whole[i + 1]);
    if (whole[i] == std::byte{0xFF} && second >= 0xD0 && second <= 0xD7) {
      markers.push_back(i);
    }
  }
  ASSERT_GT(markers.size(), 8U);
  const auto at = static_cast<std::ptrdiff_t>(markers[3]);
  Bytes missing = whole;
  missing.erase(missing.begin() + at, missing.begin() + at + 2);
  EXPECT_LT(Compare(missing), kAll);
  Bytes wrong = whole;
  wrong[markers[3] + 1] = std::byte{0xD6};
  EXPECT_LT(Compare(wrong), kAll);
  Bytes padded = whole;
  padded.insert(padded.begin() + at, {std::byte{0xFF}, std::byte{0xFF}});
  Compare(padded);
  Bytes late = whole;
  late.insert(late.begin() + at, {std::byte{0x12}, std::byte{0x34}});
  EXPECT_LT(Compare(late), kAll);
}

TEST(HuffmanTablesTest, InvalidCodesAreRefused) {
  JHUFF_TBL table = {};
  AcTable ac;
  DcTable dc;
  EXPECT_FALSE(ac.Build(table));  // no code at all
  table.bits[1] = 3;              // three codes of one bit
  EXPECT_FALSE(ac.Build(table));
  EXPECT_FALSE(dc.Build(table));
  table.bits[1] = 0;
  table.bits[8] = table.bits[9] = table.bits[10] = 200;  // more than 256 symbols
  EXPECT_FALSE(ac.Build(table));
  table = {};
  table.bits[2] = 1;
  table.huffval[0] = 16;  // not a size that a difference can have
  EXPECT_TRUE(ac.Build(table));
  EXPECT_FALSE(dc.Build(table));
}

TEST(HuffmanTablesTest, ValuesAreThoseOfTheStandard) {
  const auto value = [](unsigned bits, unsigned size) {
    return ValueOf(size == 0 ? ~std::uint64_t{0} : std::uint64_t{bits} << (64 - size), size);
  };
  EXPECT_EQ(value(0, 0), 0);
  EXPECT_EQ(value(0, 1), -1);
  EXPECT_EQ(value(1, 1), 1);
  EXPECT_EQ(value(0, 3), -7);
  EXPECT_EQ(value(3, 3), -4);
  EXPECT_EQ(value(4, 3), 4);
  EXPECT_EQ(value(7, 3), 7);
  EXPECT_EQ(value(0, 15), -32767);
  EXPECT_EQ(value(32767, 15), 32767);
}

TEST(BitReaderTest, StuffedBytesAreLeftOutWhereverTheyAre) {
  for (std::size_t at = 0; at < 20; ++at) {
    std::vector<std::uint8_t> file;
    std::vector<std::uint8_t> plain;
    for (std::size_t i = 0; i < 24; ++i) {
      const auto byte = static_cast<std::uint8_t>(i == at || i == at + 1 ? 0xFF : 7 * i);
      plain.push_back(byte);
      file.push_back(byte);
      if (byte == 0xFF) {
        file.push_back(0);
      }
    }
    file.push_back(0xFF);  // a marker ends the data
    file.push_back(0xD9);
    BitReader in;
    in.next = file.data();
    in.end = file.data() + file.size();
    for (std::size_t bit = 0; bit < 8 * plain.size(); bit += 4) {
      if (in.count < 4) {
        in.Refill();
      }
      ASSERT_GE(in.count, 4);
      const unsigned expected = (unsigned{plain[bit / 8]} >> (bit % 8 == 0 ? 4 : 0)) & 15U;
      ASSERT_EQ(in.Peek(4), expected) << "at " << at << ", bit " << bit;
      in.Drop(4);
    }
    in.Refill();
    EXPECT_EQ(in.count, 0);
    EXPECT_EQ(in.Peek(32), 0U);
    in.Drop(4);
    EXPECT_EQ(in.count, -4);
  }
}

}  // namespace
}  // namespace penstock::loader
