// SPDX-License-Identifier: Apache-2.0
//
// TensorFlow's decoders of JPEG and PNG, as `decode` spans of tf.data's own threads. Its library
// hides libjpeg and libpng, but exports the functions that its kernels call. They are declared here
// under their mangled names with untyped pointers, as x86-64 and aarch64 pass their arguments: a
// std::function by value is passed as the address of a copy. The number of bytes of the pixels is
// not known here. Exceptions pass through these frames, which have nothing to clean up. Source:
// libtensorflow_cc.so of 2.21; the signatures are those of 2.4 and later.
#include <stdint.h>

#include "agent/hooks/hooks_codec.h"

namespace penstock::agent {
namespace {

PENSTOCK_NAME(jpeg_name, "tensorflow::jpeg");
PENSTOCK_NAME(png_name, "tensorflow::png");

}  // namespace
}  // namespace penstock::agent

using namespace penstock::agent;  // NOLINT: definitions of foreign symbols follow

// uint8* jpeg::Uncompress(data, size, flags, warnings, allocate), null if `data` is no JPEG.
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

// bool png::CommonFinishDecode(pixels, row_bytes, context), called after the header was read.
PENSTOCK_FOREIGN(bool, TensorflowFinishPng,
                 "_ZN10tensorflow3png18CommonFinishDecodeEPhiPNS0_13DecodeContextE", void* pixels,
                 int row_bytes, void* context) {
  PENSTOCK_FOREIGN_REAL(TensorflowFinishPng, false);
  const Token token = OpenSpan(Stage::kDecode, &png_name, __builtin_frame_address(0));
  const bool done = real(pixels, row_bytes, context);
  CloseSpan(token, 0, !done);
  return done;
}
