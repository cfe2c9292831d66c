// SPDX-License-Identifier: Apache-2.0
//
// OpenCV as a shared library (distributions, conda; the wheels of PyPI are static and hooked from
// Python): imread and imdecode are `decode`, the usual transforms `augment`.
// The functions are C++. They are declared here under their mangled names with untyped pointers, as
// x86-64 and aarch64 pass them: a Size is 8 bytes in one register, whether by value (4.x) or by
// reference (3.x). A Mat returned by value is one here too: the address at which it is wanted comes
// in the first register of x86-64, and in one of its own (x8) on aarch64.
// Exceptions pass through these frames: the agent has unwind tables, and nothing to clean up.
#include <stdint.h>

#include "agent/hooks/hooks_codec.h"

namespace penstock::agent {

// A cv::Mat as its functions return it. The first fields are equal in 2.4, 3.x and 4.x; zeros are
// an empty image that its destructor accepts. It points into itself, so it must be made where the
// caller wants it and never be copied: no copy constructor is defined, and a copy would not link.
// That it is declared makes a Mat something that is returned in the caller's memory.
struct CvMat {
  CvMat() = default;
  CvMat(const CvMat&);
  int flags = 0;
  int dims = 0;
  int rows = 0;
  int columns = 0;
  uint64_t rest[10] = {};
};
static_assert(sizeof(CvMat) == 96);

namespace {

PENSTOCK_NAME(imread_name, "cv::imread");
PENSTOCK_NAME(imdecode_name, "cv::imdecode");
PENSTOCK_NAME(resize_name, "cv::resize");
PENSTOCK_NAME(affine_name, "cv::warpAffine");
PENSTOCK_NAME(perspective_name, "cv::warpPerspective");
PENSTOCK_NAME(colour_name, "cv::cvtColor");
PENSTOCK_NAME(blur_name, "cv::GaussianBlur");
PENSTOCK_NAME(flip_name, "cv::flip");

// 0 for an empty image, that is, a failed imread.
uint64_t BytesOf(const CvMat& mat) {
  constexpr uint32_t kMagic = 0x42ff0000u;
  const uint32_t flags = static_cast<uint32_t>(mat.flags);
  if ((flags & 0xffff0000u) != kMagic || mat.dims != 2) return 0;
  const int channels = static_cast<int>((flags >> 3) & 511) + 1;
  const int sample = static_cast<int>((0x28442211u >> ((flags & 7) * 4)) & 15);
  return PixelBytes(mat.rows, mat.columns, channels * sample);
}

// A span around `call`, whose Mat is the result: both are one object, in the caller's memory.
template <class Call>
CvMat Decode(NameTag* name, void* frame, const Call& call) {
  const Token token = OpenSpan(Stage::kDecode, name, frame);
  CvMat mat = call();
  const uint64_t bytes = token.depth != 0 ? BytesOf(mat) : 0;
  CloseSpan(token, bytes, bytes == 0);
  return mat;
}

// A transform that imread makes is part of decoding. Asked after Begin(), which drops what an
// exception left open. Transforms inside transforms are recorded as their children.
Token OpenTransform(NameTag* name, void* frame) {
  const Token token = OpenSpan(Stage::kAugment, name, frame);
  if (token.depth == 0 || OpenSpans(Stage::kDecode) == 0) return token;
  Cancel(token);
  return {};
}

}  // namespace
}  // namespace penstock::agent

using namespace penstock::agent;  // NOLINT: definitions of foreign symbols follow

#define PENSTOCK_STRING "RKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
#define PENSTOCK_IN "RKNS_11_InputArrayE"
#define PENSTOCK_OUT "RKNS_12_OutputArrayE"
#define PENSTOCK_HINT "NS_13AlgorithmHintE"  // 4.11 and later

// ---- decode ------------------------------------------------------------------------------------

PENSTOCK_FOREIGN(CvMat, CvImread, "_ZN2cv6imreadE" PENSTOCK_STRING "i", const void* path,
                 int flags) {
  PENSTOCK_FOREIGN_REAL(CvImread, CvMat());
  return Decode(&imread_name, __builtin_frame_address(0), [&] { return real(path, flags); });
}

PENSTOCK_FOREIGN(void, CvImreadInto, "_ZN2cv6imreadE" PENSTOCK_STRING PENSTOCK_OUT "i",
                 const void* path, const void* out, int flags) {
  PENSTOCK_FOREIGN_REAL(CvImreadInto, );
  const Token token = OpenSpan(Stage::kDecode, &imread_name, __builtin_frame_address(0));
  real(path, out, flags);
  CloseSpan(token, 0, false);
}

PENSTOCK_FOREIGN(CvMat, CvImdecode, "_ZN2cv8imdecodeE" PENSTOCK_IN "i", const void* data,
                 int flags) {
  PENSTOCK_FOREIGN_REAL(CvImdecode, CvMat());
  return Decode(&imdecode_name, __builtin_frame_address(0), [&] { return real(data, flags); });
}

PENSTOCK_FOREIGN(CvMat, CvImdecodeInto, "_ZN2cv8imdecodeE" PENSTOCK_IN "iPNS_3MatE",
                 const void* data, int flags, void* reuse) {
  PENSTOCK_FOREIGN_REAL(CvImdecodeInto, CvMat());
  return Decode(&imdecode_name, __builtin_frame_address(0),
                [&] { return real(data, flags, reuse); });
}

// ---- augment -----------------------------------------------------------------------------------

#define PENSTOCK_TRANSFORM(function, name, ...)                           \
  PENSTOCK_FOREIGN_REAL(function, );                                      \
  const Token token = OpenTransform(&(name), __builtin_frame_address(0)); \
  real(__VA_ARGS__);                                                      \
  CloseSpan(token, 0, false)

PENSTOCK_FOREIGN(void, CvResize, "_ZN2cv6resizeE" PENSTOCK_IN PENSTOCK_OUT "NS_5Size_IiEEddi",
                 const void* in, const void* out, uint64_t size, double fx, double fy, int mode) {
  PENSTOCK_TRANSFORM(CvResize, resize_name, in, out, size, fx, fy, mode);
}

PENSTOCK_FOREIGN(void, CvWarpAffine,
                 "_ZN2cv10warpAffineE" PENSTOCK_IN PENSTOCK_OUT
                 "S2_NS_5Size_IiEEiiRKNS_7Scalar_IdEE",
                 const void* in, const void* out, const void* matrix, uint64_t size, int flags,
                 int border, const void* value) {
  PENSTOCK_TRANSFORM(CvWarpAffine, affine_name, in, out, matrix, size, flags, border, value);
}

PENSTOCK_FOREIGN(void, CvWarpPerspective,
                 "_ZN2cv15warpPerspectiveE" PENSTOCK_IN PENSTOCK_OUT
                 "S2_NS_5Size_IiEEiiRKNS_7Scalar_IdEE",
                 const void* in, const void* out, const void* matrix, uint64_t size, int flags,
                 int border, const void* value) {
  PENSTOCK_TRANSFORM(CvWarpPerspective, perspective_name, in, out, matrix, size, flags, border,
                     value);
}

PENSTOCK_FOREIGN(void, CvCvtColor, "_ZN2cv8cvtColorE" PENSTOCK_IN PENSTOCK_OUT "ii", const void* in,
                 const void* out, int code, int channels) {
  PENSTOCK_TRANSFORM(CvCvtColor, colour_name, in, out, code, channels);
}

PENSTOCK_FOREIGN(void, CvCvtColorHint,
                 "_ZN2cv8cvtColorE" PENSTOCK_IN PENSTOCK_OUT "ii" PENSTOCK_HINT, const void* in,
                 const void* out, int code, int channels, int hint) {
  PENSTOCK_TRANSFORM(CvCvtColorHint, colour_name, in, out, code, channels, hint);
}

PENSTOCK_FOREIGN(void, CvGaussianBlur,
                 "_ZN2cv12GaussianBlurE" PENSTOCK_IN PENSTOCK_OUT "NS_5Size_IiEEddi",
                 const void* in, const void* out, uint64_t size, double x, double y, int border) {
  PENSTOCK_TRANSFORM(CvGaussianBlur, blur_name, in, out, size, x, y, border);
}

PENSTOCK_FOREIGN(void, CvGaussianBlurHint,
                 "_ZN2cv12GaussianBlurE" PENSTOCK_IN PENSTOCK_OUT "NS_5Size_IiEEddi" PENSTOCK_HINT,
                 const void* in, const void* out, uint64_t size, double x, double y, int border,
                 int hint) {
  PENSTOCK_TRANSFORM(CvGaussianBlurHint, blur_name, in, out, size, x, y, border, hint);
}

PENSTOCK_FOREIGN(void, CvFlip, "_ZN2cv4flipE" PENSTOCK_IN PENSTOCK_OUT "i", const void* in,
                 const void* out, int code) {
  PENSTOCK_TRANSFORM(CvFlip, flip_name, in, out, code);
}
