// SPDX-License-Identifier: Apache-2.0
//
// OpenCV as a shared library (distributions, conda; the wheels of PyPI are static and hooked from
// Python): imread and imdecode are `decode`, the usual transforms `augment`. imread of 3.x takes a
// cv::String and is not hooked. The functions are C++. They are declared here under their mangled
// names with untyped pointers, as x86-64 and aarch64 pass their arguments: a Size takes one
// register, whether it is passed by value (4.x) or by reference (3.x). A Mat that is returned by
// value is a value here too: the caller passes the address of the result in the first register on
// x86-64, but in a register of its own (x8) on aarch64.
// Exceptions pass through these frames, for which the agent has unwind tables. There is nothing to
// clean up.
#include <stdint.h>

#include "agent/hooks/hooks_codec.h"

namespace penstock::agent {

// A cv::Mat as OpenCV returns it. The first fields are the same in 2.4, 3.x and 4.x. All zeros are
// an empty image, which its destructor accepts. A Mat points into itself, so it must be made in the
// caller's memory and never be copied. The declared copy constructor makes the compiler return a
// Mat in the caller's memory; since it is not defined, code that copies a Mat does not link.
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

// Bytes of the image; 0 if it is empty (after a failed imread) or has more than two dimensions.
uint64_t BytesOf(const CvMat& mat) {
  constexpr uint32_t kMagic = 0x42ff0000u;
  const uint32_t flags = static_cast<uint32_t>(mat.flags);
  if ((flags & 0xffff0000u) != kMagic || mat.dims != 2) return 0;
  const int channels = static_cast<int>((flags >> 3) & 511) + 1;
  const int sample = static_cast<int>((0x28442211u >> ((flags & 7) * 4)) & 15);
  return PixelBytes(mat.rows, mat.columns, channels * sample);
}

// Puts a span around `call` and returns its Mat. It is the same object in the caller's memory, not
// a copy.
template <class Call>
CvMat Decode(NameTag* name, void* frame, const Call& call) {
  const Token token = OpenSpan(Stage::kDecode, name, frame);
  CvMat mat = call();
  const uint64_t bytes = token.depth != 0 ? BytesOf(mat) : 0;
  CloseSpan(token, bytes, bytes == 0);
  return mat;
}

// Opens the span of a transform, but not inside a decode: a transform that imread makes is part of
// decoding. This is checked after OpenSpan(), which drops spans that an exception left open.
// Transforms inside transforms are recorded as children.
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
