// SPDX-License-Identifier: Apache-2.0
//
// TensorFlow's decoders of JPEG and PNG. libjpeg and libpng are inside its library and closed, but
// the functions that its kernels call are exported and called as such: `decode` spans of tf.data's
// own threads. Declared under their mangled names with untyped pointers, as x86-64 and aarch64 pass
// them: a std::function by value is a reference to a copy. The size of the pixels is not known
// here. Exceptions pass through these frames, with nothing to clean up. Source: libtensorflow_cc.so
// of 2.21; the signatures are those of 2.4 and later.
#include <stdint.h>

#include "agent/hooks/hooks_codec.h"

namespace penstock::agent {
namespace {

PENSTOCK_NAME(jpeg_name, "tensorflow::jpeg");
PENSTOCK_NAME(png_name, "tensorflow::png");

}  // namespace
}  // namespace penstock::agent

using namespace penstock::agent;  // NOLINT: definitions of foreign symbols follow

// uint8* jpeg::Uncompress(data, size, flags, warnings, allocate): null if it is no JPEG.
PENSTOCK_FOREIGN(void*, TensorflowUncompress,
                 "_ZN10tensorflow4jpeg10UncompressEPKviRKNS0_15UncompressFlagsEPl"
                 "St8functionIFPhiiiEE",
                 const void* data, int size, const void* flags, void* warnings, void* allocate) {
  PENSTOCK_FOREIGN_REAL(TensorflowUncompress, nullptr);
  const Token token = OpenSpan(Stage::kDecode, &jpeg_name, __builtin_frame_address(0));
  void* const pixels = real(data, size, flags, warnings, allocate);
  CloseSpan(token, 0, pixels == nullptr);
  return pixels;
}

// bool png::CommonFinishDecode(pixels, row_bytes, context): the header has been read before.
PENSTOCK_FOREIGN(bool, TensorflowFinishPng,
                 "_ZN10tensorflow3png18CommonFinishDecodeEPhiPNS0_13DecodeContextE", void* pixels,
                 int row_bytes, void* context) {
  PENSTOCK_FOREIGN_REAL(TensorflowFinishPng, false);
  const Token token = OpenSpan(Stage::kDecode, &png_name, __builtin_frame_address(0));
  const bool done = real(pixels, row_bytes, context);
  CloseSpan(token, 0, !done);
  return done;
}
