// SPDX-License-Identifier: Apache-2.0
//
// JPEG files for tests, made with libjpeg, and libjpeg's own decoding of them, to compare with.
// Pure functions, thread-safe. They abort if libjpeg refuses, since that is a bug in the test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace penstock::loader::test {

enum class JpegColour {
  kYcc,        // the usual
  kRgb,        // three components, Adobe marker with transform 0
  kGrey,       // one component
  kCmyk,       // four components, no Adobe marker: 255 is full ink
  kAdobeCmyk,  // four, Adobe marker: inverted, 0 is full ink
  kAdobeYcck,  // the same in luma and chroma
};

struct JpegSpec {
  int width = 64;
  int height = 48;
  int quality = 90;
  int sampling_x = 1;  // 4:4:4 is 1 and 1, 4:2:2 is 2 and 1, 4:2:0 is 2 and 2, 4:1:1 is 4 and 1
  int sampling_y = 1;
  bool progressive = false;
  bool optimize = false;   // Huffman tables of its own
  int restart_rows = 0;    // MCU rows between two restart markers; 0: none
  int restart_blocks = 0;  // or MCUs between two restart markers
  int orientation = 0;     // 1 to 8: an EXIF segment with tag 0x0112; 0: none
  bool big_endian_exif = false;
  JpegColour colour = JpegColour::kYcc;
};

// A picture with smooth parts, edges and some noise, the same for the same arguments.
// Shapes: result: [height][width][3], R G B.
[[nodiscard]] std::vector<std::uint8_t> MakePicture(int width, int height, std::uint32_t seed = 1);

// Shapes: rgb: [spec.height][spec.width][3]; it is converted to the colours of the file.
[[nodiscard]] std::vector<std::byte> EncodeJpeg(const JpegSpec& spec,
                                                std::span<const std::uint8_t> rgb);
// EncodeJpeg of MakePicture.
[[nodiscard]] std::vector<std::byte> MakeJpeg(const JpegSpec& spec, std::uint32_t seed = 1);

struct PlainOptions {
  int denominator = 1;  // 1, 2, 4 or 8
  bool fancy_upsampling = true;
  bool fast_dct = false;
};
struct PlainImage {
  int width = 0;
  int height = 0;
  int channels = 0;  // 3: RGB, 4: CMYK as stored
  std::vector<std::uint8_t> pixels;
};
// The whole picture by libjpeg with a plain loop over its rows: no orientation, no CMYK to RGB.
[[nodiscard]] PlainImage DecodePlain(std::span<const std::byte> file,
                                     const PlainOptions& options = {});

}  // namespace penstock::loader::test
