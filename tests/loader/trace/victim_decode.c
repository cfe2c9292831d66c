/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/loader/trace/victim_decode.h"

#include "tests/agent/codecs/jpeg_image.h"

long decode_an_image(void) {
  static struct jpeg_bytes image;
  if (image.data == NULL) image = make_jpeg();
  return decode_jpeg(&image, WHOLE, NULL, NULL);
}
