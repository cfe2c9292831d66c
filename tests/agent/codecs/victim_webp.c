// SPDX-License-Identifier: Apache-2.0
//
// Makes every decoding call of libwebp and libwebpdemux.
#include <stdio.h>
#include <stdlib.h>
#include <webp/decode.h>
#include <webp/demux.h>
#include <webp/encode.h>

#define WIDTH 40
#define HEIGHT 30

int main(void) {
  static unsigned char pixels[WIDTH * HEIGHT * 4];
  for (size_t i = 0; i < sizeof pixels; ++i) pixels[i] = (unsigned char)rand();
  uint8_t* data = NULL;
  const size_t size = WebPEncodeRGB(pixels, WIDTH, HEIGHT, WIDTH * 3, 80, &data);
  int w = 0, h = 0, stride = 0, uv_stride = 0;
  uint8_t *u, *v;
  uint8_t* out;

  WebPFree(out = WebPDecodeRGB(data, size, &w, &h));
  printf("rgb %d\n", out != NULL);
  WebPFree(out = WebPDecodeRGBA(data, size, NULL, NULL));
  printf("rgba %d\n", out != NULL);
  WebPFree(out = WebPDecodeBGR(data, size, &w, &h));
  WebPFree(out = WebPDecodeBGRA(data, size, &w, &h));
  WebPFree(out = WebPDecodeARGB(data, size, &w, &h));
  WebPFree(out = WebPDecodeYUV(data, size, &w, &h, &u, &v, &stride, &uv_stride));
  printf("yuv %d\n", out != NULL);
  out = WebPDecodeRGBInto(data, size, pixels, WIDTH * HEIGHT * 3, WIDTH * 3);
  printf("into %d\n", out == pixels);

  WebPDecoderConfig config;
  WebPInitDecoderConfig(&config);
  config.output.colorspace = MODE_RGBA;
  printf("config %d\n", WebPDecode(data, size, &config));
  WebPFreeDecBuffer(&config.output);

  WebPIDecoder* part = WebPINewRGB(MODE_RGB, NULL, 0, 0);
  printf("append.half %d\n", WebPIAppend(part, data, size / 2));
  printf("append.rest %d\n", WebPIAppend(part, data + size / 2, size - size / 2));
  WebPIDelete(part);

  WebPData whole = {data, size};
  WebPAnimDecoderOptions options;
  WebPAnimDecoderOptionsInit(&options);
  WebPAnimDecoder* animation = WebPAnimDecoderNew(&whole, &options);
  int time = 0;
  while (WebPAnimDecoderHasMoreFrames(animation)) {
    printf("frame %d\n", WebPAnimDecoderGetNext(animation, &out, &time));
  }
  WebPAnimDecoderDelete(animation);

  data[12] = 0;
  printf("bad %d\n", WebPDecodeRGB(data, size, &w, &h) != NULL);
  WebPFree(data);
  return 0;
}
