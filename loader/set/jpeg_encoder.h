// SPDX-License-Identifier: Apache-2.0
//
// Baseline JPEG by libjpeg-turbo. One encoder per thread: it keeps its memory between images.
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

  // Encodes with the accurate DCT and the standard Huffman tables. The bytes are valid until the
  // next call.
  //
  // Requires: quality 1 to 100; width and height 1 to 65500 (libjpeg's limit).
  // Errors:   kInput, libjpeg's words.
  Result<std::span<const std::byte>> Encode(const ImageView& image, int quality,
                                            Subsampling subsampling);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace penstock::loader
