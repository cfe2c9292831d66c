// SPDX-License-Identifier: Apache-2.0
//
// victim_png: decodes a PNG in every way libpng has, good and damaged.
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 40
#define HEIGHT 30

struct bytes {
  unsigned char data[65536];
  size_t size;
  size_t at;
};

static void put(png_structp png, png_bytep data, size_t size) {
  struct bytes* out = png_get_io_ptr(png);
  memcpy(out->data + out->size, data, size);
  out->size += size;
}

static void flush(png_structp png) {
  (void)png;
}

static void get(png_structp png, png_bytep data, size_t size) {
  struct bytes* in = png_get_io_ptr(png);
  if (in->size - in->at < size) png_error(png, "end of data");
  memcpy(data, in->data + in->at, size);
  in->at += size;
}

static void make(struct bytes* out, int interlaced) {
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png_create_info_struct(png);
  out->size = out->at = 0;
  png_set_write_fn(png, out, put, flush);
  png_set_IHDR(png, info, WIDTH, HEIGHT, 8, PNG_COLOR_TYPE_RGB,
               interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  static unsigned char pixels[HEIGHT][WIDTH * 3];
  png_bytep rows[HEIGHT];
  for (int y = 0; y < HEIGHT; ++y) {
    for (int x = 0; x < WIDTH * 3; ++x) pixels[y][x] = (unsigned char)rand();
    rows[y] = pixels[y];
  }
  png_set_rows(png, info, rows);
  png_write_png(png, info, PNG_TRANSFORM_IDENTITY, NULL);
  png_destroy_write_struct(&png, &info);
}

enum how { ROWS_END, ROWS_NO_END, IMAGE_END, WHOLE, HEADER_ONLY };

static void quiet(png_structp png, png_const_charp message) {
  (void)message;
  png_longjmp(png, 1);
}

// Returns 1, or 0 after an error.
static int decode(const struct bytes* data, enum how how) {
  struct bytes in = *data;
  in.at = 0;
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, quiet, quiet);
  png_infop info = png_create_info_struct(png);
  static unsigned char pixels[HEIGHT][WIDTH * 4];
  if (setjmp(png_jmpbuf(png))) {
    png_destroy_read_struct(&png, &info, NULL);
    return 0;
  }
  png_set_read_fn(png, &in, get);
  if (how == WHOLE) {
    png_read_png(png, info, PNG_TRANSFORM_EXPAND, NULL);
    png_destroy_read_struct(&png, &info, NULL);
    return 1;
  }
  png_read_info(png, info);
  if (how != HEADER_ONLY) {
    png_set_filler(png, 255, PNG_FILLER_AFTER);
    const int passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    png_bytep rows[HEIGHT];
    for (int y = 0; y < HEIGHT; ++y) rows[y] = pixels[y];
    if (how == IMAGE_END) {
      png_read_image(png, rows);
    } else {
      for (int pass = 0; pass < passes; ++pass) {
        for (int y = 0; y < HEIGHT; ++y) png_read_row(png, rows[y], NULL);
      }
    }
    if (how != ROWS_NO_END) png_read_end(png, info);
  }
  png_destroy_read_struct(&png, &info, NULL);
  return 1;
}

static int simple(const struct bytes* in) {
  png_image image;
  static unsigned char pixels[WIDTH * HEIGHT * 4];
  memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_memory(&image, in->data, in->size)) return 0;
  image.format = PNG_FORMAT_RGBA;
  return png_image_finish_read(&image, NULL, pixels, 0, NULL);
}

// Pixels are indices of a map whose colours have 16 bits per sample.
static int mapped(const struct bytes* in) {
  png_image image;
  static unsigned char pixels[WIDTH * HEIGHT];
  static png_uint_16 colours[256 * 4];
  memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_memory(&image, in->data, in->size)) return 0;
  image.format = PNG_FORMAT_RGB_COLORMAP | PNG_FORMAT_FLAG_LINEAR;
  return png_image_finish_read(&image, NULL, pixels, 0, colours);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  static struct bytes in;
  const int cut = strcmp(argv[1], "cut") == 0;
  make(&in, cut || strcmp(argv[1], "interlaced") == 0);
  if (cut) {
    in.size /= 2;  // inside the only chunk of data, so the first row cannot be read
  } else if (strcmp(argv[1], "damaged") == 0) {
    memset(in.data + in.size / 2, 0xff, in.size / 2);
  } else if (strcmp(argv[1], "garbage") == 0) {
    in.data[0] = 0;
  }
  if (strcmp(argv[1], "simple") == 0) {
    printf("simple %d\n", simple(&in));
    in.data[0] = 0;
    printf("simple.bad %d\n", simple(&in));
    return 0;
  }
  if (strcmp(argv[1], "mapped") == 0) {
    printf("mapped %d\n", mapped(&in));
    return 0;
  }
  if (strcmp(argv[1], "header") == 0) {
    printf("header %d\n", decode(&in, HEADER_ONLY));
    return 0;
  }
  for (int how = ROWS_END; how <= WHOLE; ++how)
    printf("way.%d %d\n", how, decode(&in, (enum how)how));
  return 0;
}
