// SPDX-License-Identifier: Apache-2.0
//
// An extension with a libjpeg of its own beside it, as in a wheel.
#include "tests/agent/codecs/jpeg_image.h"

__attribute__((visibility("default"))) long extension_decode(const struct jpeg_bytes* image,
                                                             int how, void** mem, void** raised) {
  return decode_jpeg(image, (enum how)how, mem, raised);
}

__attribute__((visibility("default"))) struct jpeg_bytes extension_make(void) {
  return make_jpeg();
}
