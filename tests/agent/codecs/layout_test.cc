// SPDX-License-Identifier: Apache-2.0
//
// The hooks read a few fields of the codecs' structs without their headers. This compares the
// offsets that the hooks assume with the headers of the installed versions.
#include <gtest/gtest.h>
#include <stddef.h>
#include <stdio.h>

#include <jpeglib.h>
#include <png.h>
#include <turbojpeg.h>
#include <webp/decode.h>
#include <webp/demux.h>

namespace {

using Jpeg = jpeg_decompress_struct;
static_assert(offsetof(Jpeg, mem) == 8);
static_assert(offsetof(jpeg_memory_mgr, alloc_small) == 0);
static_assert(offsetof(Jpeg, global_state) == 36);
static_assert(offsetof(Jpeg, image_width) == 48);
static_assert(offsetof(Jpeg, image_height) == 52);
static_assert(offsetof(Jpeg, num_components) == 56);
static_assert(offsetof(Jpeg, output_height) == 140);
static_assert(offsetof(Jpeg, output_scanline) == 168);
static_assert(JPEG_HEADER_OK == 1 && JPEG_HEADER_TABLES_ONLY == 2 && JPEG_SUSPENDED == 0);

static_assert(offsetof(png_image, width) == 12);
static_assert(offsetof(png_image, height) == 16);
static_assert(offsetof(png_image, format) == 20);
static_assert(PNG_IMAGE_PIXEL_CHANNELS(PNG_FORMAT_RGBA) == (PNG_FORMAT_RGBA & 3) + 1);
static_assert(PNG_FORMAT_FLAG_LINEAR == 4 && PNG_FORMAT_FLAG_COLORMAP == 8);
static_assert(PNG_IMAGE_PIXEL_SIZE(PNG_FORMAT_RGB_COLORMAP | PNG_FORMAT_FLAG_LINEAR) == 1);

static_assert(offsetof(WebPDecoderConfig, output) == 40);
static_assert(offsetof(WebPDecoderConfig, output.width) == 44);
static_assert(offsetof(WebPDecoderConfig, output.height) == 48);
static_assert(MODE_RGB == 0 && MODE_rgbA_4444 == 10 && MODE_YUV == 11);
static_assert(sizeof(WebPAnimInfo) <= 128);
static_assert(offsetof(WebPAnimInfo, canvas_width) == 0);
static_assert(offsetof(WebPAnimInfo, canvas_height) == 4);
static_assert(VP8_STATUS_INVALID_PARAM == 2 && VP8_STATUS_SUSPENDED == 5);

TEST(CodecLayoutTest, PixelSizesOfTurboJpeg) {
  const int expected[12] = {3, 3, 4, 4, 4, 4, 1, 4, 4, 4, 4, 4};
  ASSERT_EQ(TJ_NUMPF, 12);
  for (int format = 0; format < TJ_NUMPF; ++format) {
    EXPECT_EQ(tjPixelSize[format], expected[format]) << format;
  }
}

}  // namespace
