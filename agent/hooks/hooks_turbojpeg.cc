// SPDX-License-Identifier: Apache-2.0
//
// TurboJPEG (libturbojpeg.so.0): each call that decodes a whole image is one `decode` span. Errors
// are return values, and the library hides its own libjpeg. Callers that load it with dlopen and
// dlsym (PyTurboJPEG through ctypes) bypass every preload and are hooked from Python.
#include <stddef.h>
#include <stdint.h>

#include "agent/hooks/hooks_codec.h"

namespace penstock::agent {
namespace {

PENSTOCK_NAME(decode_name, "turbojpeg");
PENSTOCK_NAME(header_name, "turbojpeg header");

constexpr int kFailed = -1;

// enum TJPF: bytes per pixel of an 8-bit sample.
int PixelSize(int format) {
  static constexpr uint8_t kSizes[12] = {3, 3, 4, 4, 4, 4, 1, 4, 4, 4, 4, 4};
  return format >= 0 && format < 12 ? kSizes[format] : 0;
}

Symbol tj3_get = {"tj3Get", nullptr};
constexpr int kParamJpegWidth = 5;   // TJPARAM_JPEGWIDTH
constexpr int kParamJpegHeight = 6;  // TJPARAM_JPEGHEIGHT

// Bytes of the image that `handle` decoded last. In version 3 of the API, the functions that decode
// do not take the image's size as an argument.
uint64_t BytesOf(void* handle, int pixel, void* return_address) {
  auto* const get = Companion<int(void*, int)>(&tj3_get, return_address);
  if (get == nullptr) return 0;
  return PixelBytes(get(handle, kParamJpegWidth), get(handle, kParamJpegHeight), pixel);
}

}  // namespace
}  // namespace penstock::agent

using namespace penstock::agent;  // NOLINT: definitions of C symbols follow

using Bytes = const unsigned char;

// Declares the hook's Symbol, finds the real function and opens the span.
#define PENSTOCK_ENTER(function, name)                                                  \
  static Symbol symbol = {#function, nullptr};                                          \
  auto* const real = RealFor<decltype(function)>(&symbol, __builtin_return_address(0)); \
  if (real == nullptr) return kFailed;                                                  \
  const Token token = OpenSpan(Stage::kDecode, &(name), __builtin_frame_address(0))

#define PENSTOCK_LEAVE(result, bytes)                              \
  CloseSpan(token, token.depth != 0 ? (bytes) : 0, (result) != 0); \
  return result

// ---- version 3 ---------------------------------------------------------------------------------

PENSTOCK_EXPORT int tj3DecompressHeader(void* handle, Bytes* jpeg, size_t size) {
  PENSTOCK_ENTER(tj3DecompressHeader, header_name);
  const int result = real(handle, jpeg, size);
  PENSTOCK_LEAVE(result, 0);
}

PENSTOCK_EXPORT int tj3Decompress8(void* handle, Bytes* jpeg, size_t size, unsigned char* pixels,
                                   int pitch, int format) {
  PENSTOCK_ENTER(tj3Decompress8, decode_name);
  const int result = real(handle, jpeg, size, pixels, pitch, format);
  PENSTOCK_LEAVE(result, BytesOf(handle, PixelSize(format), __builtin_return_address(0)));
}

PENSTOCK_EXPORT int tj3Decompress12(void* handle, Bytes* jpeg, size_t size, short* pixels,
                                    int pitch, int format) {
  PENSTOCK_ENTER(tj3Decompress12, decode_name);
  const int result = real(handle, jpeg, size, pixels, pitch, format);
  PENSTOCK_LEAVE(result, BytesOf(handle, 2 * PixelSize(format), __builtin_return_address(0)));
}

PENSTOCK_EXPORT int tj3Decompress16(void* handle, Bytes* jpeg, size_t size, unsigned short* pixels,
                                    int pitch, int format) {
  PENSTOCK_ENTER(tj3Decompress16, decode_name);
  const int result = real(handle, jpeg, size, pixels, pitch, format);
  PENSTOCK_LEAVE(result, BytesOf(handle, 2 * PixelSize(format), __builtin_return_address(0)));
}

PENSTOCK_EXPORT int tj3DecompressToYUV8(void* handle, Bytes* jpeg, size_t size,
                                        unsigned char* pixels, int align) {
  PENSTOCK_ENTER(tj3DecompressToYUV8, decode_name);
  const int result = real(handle, jpeg, size, pixels, align);
  PENSTOCK_LEAVE(result, 0);
}

PENSTOCK_EXPORT int tj3DecompressToYUVPlanes8(void* handle, Bytes* jpeg, size_t size,
                                              unsigned char** planes, int* strides) {
  PENSTOCK_ENTER(tj3DecompressToYUVPlanes8, decode_name);
  const int result = real(handle, jpeg, size, planes, strides);
  PENSTOCK_LEAVE(result, 0);
}

// ---- versions 1 and 2; width and height may be 0, "as in the file" ------------------------------

PENSTOCK_EXPORT int tjDecompressHeader3(void* handle, Bytes* jpeg, unsigned long size, int* width,
                                        int* height, int* subsampling, int* colour) {
  PENSTOCK_ENTER(tjDecompressHeader3, header_name);
  const int result = real(handle, jpeg, size, width, height, subsampling, colour);
  PENSTOCK_LEAVE(result, 0);
}

PENSTOCK_EXPORT int tjDecompressHeader2(void* handle, unsigned char* jpeg, unsigned long size,
                                        int* width, int* height, int* subsampling) {
  PENSTOCK_ENTER(tjDecompressHeader2, header_name);
  const int result = real(handle, jpeg, size, width, height, subsampling);
  PENSTOCK_LEAVE(result, 0);
}

PENSTOCK_EXPORT int tjDecompressHeader(void* handle, unsigned char* jpeg, unsigned long size,
                                       int* width, int* height) {
  PENSTOCK_ENTER(tjDecompressHeader, header_name);
  const int result = real(handle, jpeg, size, width, height);
  PENSTOCK_LEAVE(result, 0);
}

PENSTOCK_EXPORT int tjDecompress2(void* handle, Bytes* jpeg, unsigned long size,
                                  unsigned char* pixels, int width, int pitch, int height,
                                  int format, int flags) {
  PENSTOCK_ENTER(tjDecompress2, decode_name);
  const int result = real(handle, jpeg, size, pixels, width, pitch, height, format, flags);
  PENSTOCK_LEAVE(result, PixelBytes(width, height, PixelSize(format)));
}

PENSTOCK_EXPORT int tjDecompress(void* handle, unsigned char* jpeg, unsigned long size,
                                 unsigned char* pixels, int width, int pitch, int height, int pixel,
                                 int flags) {
  PENSTOCK_ENTER(tjDecompress, decode_name);
  const int result = real(handle, jpeg, size, pixels, width, pitch, height, pixel, flags);
  PENSTOCK_LEAVE(result, PixelBytes(width, height, pixel));
}

PENSTOCK_EXPORT int tjDecompressToYUV(void* handle, unsigned char* jpeg, unsigned long size,
                                      unsigned char* pixels, int flags) {
  PENSTOCK_ENTER(tjDecompressToYUV, decode_name);
  const int result = real(handle, jpeg, size, pixels, flags);
  PENSTOCK_LEAVE(result, 0);
}

PENSTOCK_EXPORT int tjDecompressToYUV2(void* handle, Bytes* jpeg, unsigned long size,
                                       unsigned char* pixels, int width, int align, int height,
                                       int flags) {
  PENSTOCK_ENTER(tjDecompressToYUV2, decode_name);
  const int result = real(handle, jpeg, size, pixels, width, align, height, flags);
  PENSTOCK_LEAVE(result, 0);
}

PENSTOCK_EXPORT int tjDecompressToYUVPlanes(void* handle, Bytes* jpeg, unsigned long size,
                                            unsigned char** planes, int width, int* strides,
                                            int height, int flags) {
  PENSTOCK_ENTER(tjDecompressToYUVPlanes, decode_name);
  const int result = real(handle, jpeg, size, planes, width, strides, height, flags);
  PENSTOCK_LEAVE(result, 0);
}
