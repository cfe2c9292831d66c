// SPDX-License-Identifier: Apache-2.0
//
// Makes JPEG files smaller: decodes, resizes and encodes them again. One for each thread, which
// keeps its memory.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "loader/augment/program.h"
#include "loader/decode/jpeg_decoder.h"
#include "loader/set/jpeg_encoder.h"
#include "traces/base/result.h"

namespace penstock::loader {

struct ReencoderOptions {
  int resize = 0;      // short side for larger pictures; 0: never resize
  int quality = 0;     // 0: encode only resized pictures again, at 95
  bool check = false;  // also decode files that stay as they are
};

class Reencoder {
 public:
  explicit Reencoder(const ReencoderOptions& options);

  // Returns the new file, or nullopt if the old one stays. The bytes are valid until the next call.
  //
  // Errors: kInput, without the file's name, if it cannot be decoded, or if a side would be longer
  //         than 16,384 pixels after resizing.
  Result<std::optional<std::span<const std::byte>>> Convert(std::span<const std::byte> file);

 private:
  Result<ImageView> Resized(const JpegDecoder::Decoded& decoded, const ImageInfo& info, Size size);

  ReencoderOptions options_;
  JpegDecoder decoder_;
  JpegEncoder encoder_;
  // Kept for the last size, since pictures of one size often follow each other.
  Size size_;
  std::optional<AugmentProgram> program_;
  std::optional<Augmenter> augmenter_;
  std::vector<std::byte> pixels_;
};

}  // namespace penstock::loader
