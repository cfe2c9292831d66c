// SPDX-License-Identifier: Apache-2.0
//
// A JPEG file smaller: decoded, resized, encoded again. One per thread; it keeps its memory.
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
  int resize = 0;      // short side of what is larger; 0: never
  int quality = 0;     // 0: only what is resized is encoded again, at 95
  bool check = false;  // decode even what stays as it is
};

class Reencoder {
 public:
  explicit Reencoder(const ReencoderOptions& options);

  // The new file, or nothing where the old one stays. The bytes are valid until the next call.
  //
  // Errors: kInput, without the file's name: it does not decode.
  Result<std::optional<std::span<const std::byte>>> Convert(std::span<const std::byte> file);

 private:
  Result<ImageView> Resized(const JpegDecoder::Decoded& decoded, const ImageInfo& info, Size size);

  ReencoderOptions options_;
  JpegDecoder decoder_;
  JpegEncoder encoder_;
  // Of the size that came last: pictures of one size often follow each other.
  Size size_;
  std::optional<AugmentProgram> program_;
  std::optional<Augmenter> augmenter_;
  std::vector<std::byte> pixels_;
};

}  // namespace penstock::loader
