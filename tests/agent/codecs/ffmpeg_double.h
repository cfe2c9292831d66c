// SPDX-License-Identifier: Apache-2.0
//
// A double of FFmpeg's libraries, which decodes nothing. It has the functions that the agent hooks,
// and the layout of FFmpeg's frames.
#pragma once

#include <stdint.h>

typedef struct Frame {
  uint8_t* data[8];
  int linesize[8];
  uint8_t** extended_data;
  int width, height;
} Frame;

// A file of three packets. Every seek goes to its beginning.
__attribute__((visibility("default"))) int avformat_open_input(void** context, const char* url,
                                                               const void* format, void** options);
__attribute__((visibility("default"))) int avformat_find_stream_info(void* context, void** options);
__attribute__((visibility("default"))) int av_read_frame(void* context, void* packet);
__attribute__((visibility("default"))) int av_seek_frame(void* context, int stream, int64_t at,
                                                         int flags);
__attribute__((visibility("default"))) int avformat_seek_file(void* context, int stream,
                                                              int64_t least, int64_t at,
                                                              int64_t most, int flags);
__attribute__((visibility("default"))) void avformat_close_input(void** context);
__attribute__((visibility("default"))) int avcodec_open2(void* context, const void* codec,
                                                         void** options);
__attribute__((visibility("default"))) void avcodec_free_context(void** context);
// A decoder that gives a frame for every second packet. A packet of 0 bytes is refused.
__attribute__((visibility("default"))) int avcodec_send_packet(void* context, const void* packet);
__attribute__((visibility("default"))) int avcodec_receive_frame(void* context, void* frame);
__attribute__((visibility("default"))) int sws_scale(void* context, const uint8_t* const* source,
                                                     const int* source_stride, int top, int height,
                                                     uint8_t* const* target,
                                                     const int* target_stride);
__attribute__((visibility("default"))) int sws_scale_frame(void* context, void* target,
                                                           const void* source);
