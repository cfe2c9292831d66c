// SPDX-License-Identifier: Apache-2.0
//
// Makes every decoding call of the installed TurboJPEG with a good image, and the main calls with a
// damaged one too.
#include <stdio.h>
#include <stdlib.h>
#include <turbojpeg.h>

#define WIDTH 64
#define HEIGHT 48

int main(void) {
  static unsigned char pixels[WIDTH * HEIGHT * 4];
  for (size_t i = 0; i < sizeof pixels; ++i) pixels[i] = (unsigned char)(i * 7);
  unsigned char* jpeg = NULL;
  unsigned long size = 0;
  tjhandle encoder = tjInitCompress();
  tjCompress2(encoder, pixels, WIDTH, 0, HEIGHT, TJPF_RGB, &jpeg, &size, TJSAMP_420, 90, 0);
  tjDestroy(encoder);

  tjhandle d = tjInitDecompress();
  int width, height, subsampling, colour;
  static unsigned char yuv[WIDTH * HEIGHT * 3];
  unsigned char* planes[3] = {yuv, yuv + WIDTH * HEIGHT, yuv + WIDTH * HEIGHT * 2};
  printf("header3 %d\n",
         tjDecompressHeader3(d, jpeg, size, &width, &height, &subsampling, &colour));
  printf("header2 %d\n", tjDecompressHeader2(d, jpeg, size, &width, &height, &subsampling));
  printf("decompress2 %d\n", tjDecompress2(d, jpeg, size, pixels, width, 0, height, TJPF_RGBA, 0));
  printf("decompress %d\n", tjDecompress(d, jpeg, size, pixels, width, 0, height, 3, 0));
  printf("yuv2 %d\n", tjDecompressToYUV2(d, jpeg, size, yuv, width, 4, height, 0));
  printf("planes %d\n", tjDecompressToYUVPlanes(d, jpeg, size, planes, width, NULL, height, 0));
  jpeg[0] = 0;
  printf("bad %d\n", tjDecompress2(d, jpeg, size, pixels, width, 0, height, TJPF_RGB, 0));
  tjDestroy(d);
  tjFree(jpeg);
  return 0;
}
