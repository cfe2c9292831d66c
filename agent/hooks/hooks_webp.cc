// SPDX-License-Identifier: Apache-2.0
//
// libwebp and libwebpdemux: each call that decodes is one `decode` span. An animation frame
// (WebPAnimDecoderGetNext, which Pillow uses) contains a WebPDecode, which is recorded inside it.
// Errors are return values. WebPIDecode only makes an incremental decoder, so it is not hooked.
#include <stddef.h>
#include <stdint.h>

#include "agent/hooks/hooks_codec.h"

namespace penstock::agent {
namespace {

PENSTOCK_NAME(decode_name, "webp");
PENSTOCK_NAME(part_name, "webp part");
PENSTOCK_NAME(frame_name, "webp frame");

constexpr int kInvalid = 2;    // VP8_STATUS_INVALID_PARAM
constexpr int kSuspended = 5;  // VP8_STATUS_SUSPENDED: needs more data

// The first fields of WebPDecoderConfig: the bitstream's features, then the output buffer.
struct Config {
  uint32_t features[10];
  int colour_mode;
  int width;
  int height;
};

uint64_t BytesOf(const Config* config) {
  static constexpr uint8_t kPixel[11] = {3, 4, 3, 4, 4, 2, 2, 4, 4, 4, 2};  // MODE_RGB ...
  const int mode = config->colour_mode;
  if (mode >= 0 && mode < 11) return PixelBytes(config->width, config->height, kPixel[mode]);
  return PixelBytes(config->width, config->height, 3) / 2;  // YUV 4:2:0
}

Symbol get_info = {"WebPAnimDecoderGetInfo", nullptr};

// Bytes of the canvas, which is RGBA. WebPAnimInfo starts with its width and height.
uint64_t CanvasBytes(const void* decoder, void* return_address) {
  auto* const get = Companion<int(const void*, uint32_t*)>(&get_info, return_address);
  uint32_t info[32] = {};
  if (get == nullptr || get(decoder, info) == 0) return 0;
  return uint64_t{info[0]} * info[1] * 4;
}

}  // namespace
}  // namespace penstock::agent

using namespace penstock::agent;  // NOLINT: definitions of C symbols follow

using Bytes = const uint8_t;

#define PENSTOCK_ENTER(function, name, failure)                                         \
  static Symbol symbol = {#function, nullptr};                                          \
  auto* const real = RealFor<decltype(function)>(&symbol, __builtin_return_address(0)); \
  if (real == nullptr) return failure;                                                  \
  const Token token = OpenSpan(Stage::kDecode, &(name), __builtin_frame_address(0))

PENSTOCK_EXPORT int WebPDecode(Bytes* data, size_t size, Config* config) {
  PENSTOCK_ENTER(WebPDecode, decode_name, kInvalid);
  const int result = real(data, size, config);
  CloseSpan(token, config != nullptr ? BytesOf(config) : 0, result != 0);
  return result;
}

// For functions that return a new buffer. `width` and `height` may be null.
#define PENSTOCK_WHOLE(function, pixel)                                                  \
  PENSTOCK_EXPORT uint8_t* function(Bytes* data, size_t size, int* width, int* height) { \
    PENSTOCK_ENTER(function, decode_name, nullptr);                                      \
    uint8_t* const result = real(data, size, width, height);                             \
    const bool known = result != nullptr && width != nullptr && height != nullptr;       \
    CloseSpan(token, known ? PixelBytes(*width, *height, pixel) : 0, result == nullptr); \
    return result;                                                                       \
  }

PENSTOCK_WHOLE(WebPDecodeRGB, 3)
PENSTOCK_WHOLE(WebPDecodeBGR, 3)
PENSTOCK_WHOLE(WebPDecodeRGBA, 4)
PENSTOCK_WHOLE(WebPDecodeBGRA, 4)
PENSTOCK_WHOLE(WebPDecodeARGB, 4)

// For functions that fill the caller's buffer. The buffer's size is recorded as the image's.
#define PENSTOCK_INTO(function)                                                              \
  PENSTOCK_EXPORT uint8_t* function(Bytes* data, size_t size, uint8_t* out, size_t out_size, \
                                    int stride) {                                            \
    PENSTOCK_ENTER(function, decode_name, nullptr);                                          \
    uint8_t* const result = real(data, size, out, out_size, stride);                         \
    CloseSpan(token, out_size, result == nullptr);                                           \
    return result;                                                                           \
  }

PENSTOCK_INTO(WebPDecodeRGBInto)
PENSTOCK_INTO(WebPDecodeBGRInto)
PENSTOCK_INTO(WebPDecodeRGBAInto)
PENSTOCK_INTO(WebPDecodeBGRAInto)
PENSTOCK_INTO(WebPDecodeARGBInto)

PENSTOCK_EXPORT uint8_t* WebPDecodeYUV(Bytes* data, size_t size, int* width, int* height,
                                       uint8_t** u, uint8_t** v, int* stride, int* uv_stride) {
  PENSTOCK_ENTER(WebPDecodeYUV, decode_name, nullptr);
  uint8_t* const result = real(data, size, width, height, u, v, stride, uv_stride);
  const bool known = result != nullptr && width != nullptr && height != nullptr;
  CloseSpan(token, known ? PixelBytes(*width, *height, 3) / 2 : 0, result == nullptr);
  return result;
}

PENSTOCK_EXPORT uint8_t* WebPDecodeYUVInto(Bytes* data, size_t size, uint8_t* luma,
                                           size_t luma_size, int luma_stride, uint8_t* u,
                                           size_t u_size, int u_stride, uint8_t* v, size_t v_size,
                                           int v_stride) {
  PENSTOCK_ENTER(WebPDecodeYUVInto, decode_name, nullptr);
  uint8_t* const result =
      real(data, size, luma, luma_size, luma_stride, u, u_size, u_stride, v, v_size, v_stride);
  CloseSpan(token, luma_size + u_size + v_size, result == nullptr);
  return result;
}

PENSTOCK_EXPORT int WebPIAppend(void* decoder, Bytes* data, size_t size) {
  PENSTOCK_ENTER(WebPIAppend, part_name, kInvalid);
  const int result = real(decoder, data, size);
  CloseSpan(token, 0, result != 0 && result != kSuspended);
  return result;
}

PENSTOCK_EXPORT int WebPIUpdate(void* decoder, Bytes* data, size_t size) {
  PENSTOCK_ENTER(WebPIUpdate, part_name, kInvalid);
  const int result = real(decoder, data, size);
  CloseSpan(token, 0, result != 0 && result != kSuspended);
  return result;
}

PENSTOCK_EXPORT int WebPAnimDecoderGetNext(void* decoder, uint8_t** pixels, int* timestamp) {
  PENSTOCK_ENTER(WebPAnimDecoderGetNext, frame_name, 0);
  const int result = real(decoder, pixels, timestamp);
  CloseSpan(token, token.depth != 0 ? CanvasBytes(decoder, __builtin_return_address(0)) : 0,
            result == 0);
  return result;
}
