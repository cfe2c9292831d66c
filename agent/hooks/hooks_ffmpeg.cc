// SPDX-License-Identifier: Apache-2.0
//
// FFmpeg (libavformat, libavcodec, libswscale; used by PyAV, torchcodec and OpenCV's videos). There
// is a `decode` span for opening and closing a file or a decoder, seeking, reading a packet,
// sending it to the decoder, receiving a frame and converting its pixels. Reads of the file lie
// inside these spans. Decoders have threads of their own, for which these calls wait. Structures
// are read at offsets that all releases since 2012 share.
#include <stdint.h>
#include <string.h>

#include "agent/hooks/hooks_codec.h"

namespace penstock::agent {
namespace {

PENSTOCK_NAME(decode_name, "ffmpeg");
PENSTOCK_NAME(scale_name, "ffmpeg scale");
PENSTOCK_NAME(open_name, "ffmpeg open");
PENSTOCK_NAME(close_name, "ffmpeg close");
PENSTOCK_NAME(demux_name, "ffmpeg demux");
PENSTOCK_NAME(seek_name, "ffmpeg seek");

constexpr int kAgain = -11;        // AVERROR(EAGAIN): send or receive first
constexpr int kEnd = -0x20464f45;  // AVERROR_EOF

// struct AVFrame: eight planes, their eight line sizes, a pointer, then width and height.
constexpr size_t kWidthOffset = 8 * sizeof(void*) + 8 * sizeof(int) + sizeof(void*);

// Counts the frame as YUV 4:2:0, which nearly all videos are. Sound counts as 0 bytes.
uint64_t BytesOfFrame(const void* frame) {
  int size[2];
  memcpy(size, static_cast<const char*>(frame) + kWidthOffset, sizeof size);
  return PixelBytes(size[0], size[1], 3) / 2;
}

bool IsFailure(int result) {
  return result < 0 && result != kAgain && result != kEnd;
}

}  // namespace
}  // namespace penstock::agent

using namespace penstock::agent;  // NOLINT: definitions of C symbols follow

// Declares the hook's Symbol, finds the real function and opens the span. `failure`: what the hook
// returns if the real function is not found.
#define PENSTOCK_ENTER_OR(function, name, failure)                                      \
  static Symbol symbol = {#function, nullptr};                                          \
  auto* const real = RealFor<decltype(function)>(&symbol, __builtin_return_address(0)); \
  if (real == nullptr) return failure;                                                  \
  const Token token = OpenSpan(Stage::kDecode, &(name), __builtin_frame_address(0))
#define PENSTOCK_ENTER(function, name) PENSTOCK_ENTER_OR(function, name, -1)
#define PENSTOCK_ENTER_VOID(function, name) PENSTOCK_ENTER_OR(function, name, )

PENSTOCK_EXPORT int avformat_open_input(void** context, const char* url, const void* format,
                                        void** options) {
  PENSTOCK_ENTER(avformat_open_input, open_name);
  const int result = real(context, url, format, options);
  CloseSpan(token, 0, IsFailure(result));
  return result;
}

// This call decodes some frames itself.
PENSTOCK_EXPORT int avformat_find_stream_info(void* context, void** options) {
  PENSTOCK_ENTER(avformat_find_stream_info, open_name);
  const int result = real(context, options);
  CloseSpan(token, 0, IsFailure(result));
  return result;
}

// Starts the decoder's threads.
PENSTOCK_EXPORT int avcodec_open2(void* context, const void* codec, void** options) {
  PENSTOCK_ENTER(avcodec_open2, open_name);
  const int result = real(context, codec, options);
  CloseSpan(token, 0, IsFailure(result));
  return result;
}

// Ends the decoder's threads.
PENSTOCK_EXPORT void avcodec_free_context(void** context) {
  PENSTOCK_ENTER_VOID(avcodec_free_context, close_name);
  real(context);
  CloseSpan(token, 0, false);
}

PENSTOCK_EXPORT void avformat_close_input(void** context) {
  PENSTOCK_ENTER_VOID(avformat_close_input, close_name);
  real(context);
  CloseSpan(token, 0, false);
}

PENSTOCK_EXPORT int av_read_frame(void* context, void* packet) {
  PENSTOCK_ENTER(av_read_frame, demux_name);
  const int result = real(context, packet);
  CloseSpan(token, 0, IsFailure(result));
  return result;
}

PENSTOCK_EXPORT int av_seek_frame(void* context, int stream, int64_t at, int flags) {
  PENSTOCK_ENTER(av_seek_frame, seek_name);
  const int result = real(context, stream, at, flags);
  CloseSpan(token, 0, IsFailure(result));
  return result;
}

PENSTOCK_EXPORT int avformat_seek_file(void* context, int stream, int64_t least, int64_t at,
                                       int64_t most, int flags) {
  PENSTOCK_ENTER(avformat_seek_file, seek_name);
  const int result = real(context, stream, least, at, most, flags);
  CloseSpan(token, 0, IsFailure(result));
  return result;
}

PENSTOCK_EXPORT int avcodec_send_packet(void* context, const void* packet) {
  PENSTOCK_ENTER(avcodec_send_packet, decode_name);
  const int result = real(context, packet);
  CloseSpan(token, 0, IsFailure(result));
  return result;
}

PENSTOCK_EXPORT int avcodec_receive_frame(void* context, void* frame) {
  PENSTOCK_ENTER(avcodec_receive_frame, decode_name);
  const int result = real(context, frame);
  CloseSpan(token, token.depth != 0 && result == 0 ? BytesOfFrame(frame) : 0, IsFailure(result));
  return result;
}

PENSTOCK_EXPORT int sws_scale(void* context, const uint8_t* const* source, const int* source_stride,
                              int top, int height, uint8_t* const* target,
                              const int* target_stride) {
  PENSTOCK_ENTER(sws_scale, scale_name);
  const int result = real(context, source, source_stride, top, height, target, target_stride);
  CloseSpan(token, 0, IsFailure(result));
  return result;
}

PENSTOCK_EXPORT int sws_scale_frame(void* context, void* target, const void* source) {
  PENSTOCK_ENTER(sws_scale_frame, scale_name);
  const int result = real(context, target, source);
  CloseSpan(token, 0, IsFailure(result));
  return result;
}
