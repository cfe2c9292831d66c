// SPDX-License-Identifier: Apache-2.0
#include "tests/agent/codecs/ffmpeg_double.h"

#include <errno.h>
#include <stddef.h>

static int file;

int avformat_open_input(void** context, const char* url, const void* format, void** options) {
  if (url == NULL || format != NULL || options != NULL) return -ENOENT;
  file = 0;
  *context = &file;
  return 0;
}

int avformat_find_stream_info(void* context, void** options) {
  return context == &file && options == NULL ? 0 : -EINVAL;
}

int avcodec_open2(void* context, const void* codec, void** options) {
  if (codec != NULL || options != NULL) return -EINVAL;
  *(int*)context = 0;
  return 0;
}

void avcodec_free_context(void** context) {
  *context = NULL;
}

void avformat_close_input(void** context) {
  *context = NULL;
}

int av_read_frame(void* context, void* packet) {
  if (*(int*)context == 3) return -0x20464f45;
  *(int*)packet = ++*(int*)context;
  return 0;
}

int av_seek_frame(void* context, int stream, int64_t at, int flags) {
  return avformat_seek_file(context, stream, at, at, at, flags);
}

int avformat_seek_file(void* context, int stream, int64_t least, int64_t at, int64_t most,
                       int flags) {
  if (stream != -1 || least > at || at > most || at != 0 || flags != 1) return -EINVAL;
  *(int*)context = 0;
  return 0;
}

int avcodec_send_packet(void* context, const void* packet) {
  int* const held = (int*)context;
  if (packet == NULL || *(const int*)packet == 0) return -EINVAL;
  ++*held;
  return 0;
}

int avcodec_receive_frame(void* context, void* frame) {
  int* const held = (int*)context;
  if (*held < 0) return -0x20464f45;
  if (*held < 2) return -EAGAIN;
  *held = 0;
  ((Frame*)frame)->width = 64;
  ((Frame*)frame)->height = 48;
  return 0;
}

int sws_scale(void* context, const uint8_t* const* source, const int* source_stride, int top,
              int height, uint8_t* const* target, const int* target_stride) {
  if (context == NULL || source_stride[0] != 64 || target_stride[0] != 192) return -EINVAL;
  target[0][0] = (uint8_t)(source[0][0] + 1);
  return height - top;
}

int sws_scale_frame(void* context, void* target, const void* source) {
  if (context == NULL) return -EINVAL;
  ((Frame*)target)->width = ((const Frame*)source)->width;
  return ((Frame*)target)->width;
}
