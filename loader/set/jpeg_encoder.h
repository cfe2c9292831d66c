// SPDX-License-Identifier: Apache-2.0
//
// Encodes baseline JPEG with libjpeg-turbo. One encoder for each thread, which keeps its memory
// between images.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "loader/decode/image.h"
#include "loader/set/recipe.h"
#include "traces/base/result.h"

namespace penstock::loader {

class JpegEncoder {
 public:
  JpegEncoder();
  ~JpegEncoder();
  JpegEncoder(const JpegEncoder&) = delete;
  JpegEncoder& operator=(const JpegEncoder&) = delete;

  // Encodes `image` with the accurate DCT and the standard Huffman tables. The bytes are valid
  // until the next call.
  //
  // Requires: quality 1 to 100; width and height 1 to 65500 (libjpeg's limit).
  // Errors: kInput, with libjpeg's message.
  Result<std::span<const std::byte>> Encode(const ImageView& image, int quality,
                                            Subsampling subsampling);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace penstock::loader
