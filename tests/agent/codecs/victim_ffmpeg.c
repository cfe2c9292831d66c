// SPDX-License-Identifier: Apache-2.0
//
// victim_ffmpeg: decodes a file to its end as programs do. One packet is refused.
#include <stdio.h>

#include "tests/agent/codecs/ffmpeg_double.h"

int main(void) {
  void* input = NULL;
  int found = 0;
  printf("missing %d\n", avformat_open_input(&input, NULL, NULL, NULL));
  printf("open %d ", avformat_open_input(&input, "clip.mp4", NULL, NULL));
  printf("%d\n", avformat_find_stream_info(input, NULL));
  for (int i = 0; i < 4; ++i) printf("packet %d %d\n", av_read_frame(input, &found), found);
  printf("seek %d ", avformat_seek_file(input, -1, -5, 0, 5, 1));
  printf("%d\n", av_seek_frame(input, -1, 7, 1));
  int context = 5, packet = 1;
  void* decoder = &context;
  printf("decoder %d ", avcodec_open2(decoder, NULL, NULL));
  printf("%d\n", context);
  Frame frame = {0};
  for (int i = 0; i < 4; ++i) {
    const int sent = avcodec_send_packet(&context, &packet);
    const int received = avcodec_receive_frame(&context, &frame);
    printf("frame %d %d %d\n", sent, received, frame.width);
  }
  packet = 0;
  printf("refused %d\n", avcodec_send_packet(&context, &packet));
  context = -1;
  printf("end %d\n", avcodec_receive_frame(&context, &frame));
  uint8_t pixel = 4, made = 0;
  const uint8_t* const source[] = {&pixel};
  uint8_t* const target[] = {&made};
  const int narrow[] = {64}, wide[] = {192};
  const int rows = sws_scale(&context, source, narrow, 0, 48, target, wide);
  printf("scale %d %d\n", rows, made);
  Frame scaled = {0};
  const int width = sws_scale_frame(&context, &scaled, &frame);
  printf("scale_frame %d %d\n", width, scaled.width);
  avcodec_free_context(&decoder);
  avformat_close_input(&input);
  printf("closed %d %d\n", decoder == NULL, input == NULL);
  return 0;
}
