// SPDX-License-Identifier: Apache-2.0
//
// For victims: makes a JPEG in memory, and decodes it with every order of calls that programs use.
#pragma once

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>  // needs stdio.h

#define IMAGE_WIDTH 64
#define IMAGE_HEIGHT 48
#define IMAGE_BYTES (IMAGE_WIDTH * IMAGE_HEIGHT * 3)

struct jpeg_bytes {
  unsigned char* data;
  unsigned long size;
};

static struct jpeg_bytes make_jpeg(void) {
  struct jpeg_bytes out = {NULL, 0};
  struct jpeg_compress_struct c;
  struct jpeg_error_mgr error;
  c.err = jpeg_std_error(&error);
  jpeg_create_compress(&c);
  jpeg_mem_dest(&c, &out.data, &out.size);
  c.image_width = IMAGE_WIDTH;
  c.image_height = IMAGE_HEIGHT;
  c.input_components = 3;
  c.in_color_space = JCS_RGB;
  jpeg_set_defaults(&c);
  jpeg_start_compress(&c, TRUE);
  unsigned char row[IMAGE_WIDTH * 3];
  while (c.next_scanline < c.image_height) {
    for (int x = 0; x < IMAGE_WIDTH * 3; ++x) {
      row[x] = (unsigned char)(x * 7 + (int)c.next_scanline * 5 + rand() % 9);
    }
    JSAMPROW rows[1] = {row};
    jpeg_write_scanlines(&c, rows, 1);
  }
  jpeg_finish_compress(&c);
  jpeg_destroy_compress(&c);
  return out;
}

enum how {
  WHOLE,         // read_header .. finish, destroy
  GENERIC,       // jpeg_destroy instead of jpeg_destroy_decompress
  HEADER_ONLY,   // destroyed after the header
  NO_FINISH,     // every line, then destroyed without jpeg_finish_decompress
  HALF,          // half of the lines, then jpeg_abort_decompress
  HALF_GENERIC,  // half of the lines, then jpeg_abort
  EARLY_FINISH,  // half of the lines, then jpeg_finish_decompress: longjmp
  BAD_HEADER,    // longjmp out of jpeg_read_header
  BAD_START,     // longjmp out of jpeg_start_decompress
  BAD_SCAN,      // longjmp out of jpeg_read_scanlines
  TABLES,        // tables-only stream, then the image
  HOWS,
};

struct guarded_error {
  struct jpeg_error_mgr base;
  jmp_buf escape;
  void* raised_at;  // return address of error_exit: inside the libjpeg that raised it
};

static void escape(j_common_ptr cinfo) {
  struct guarded_error* error = (struct guarded_error*)cinfo->err;
  error->raised_at = __builtin_return_address(0);
  longjmp(error->escape, 1);
}

static void escape_on_warning(j_common_ptr cinfo, int level) {
  if (level < 0) escape(cinfo);
}

// Decodes an image. Returns the sum of the pixels, or -1 after longjmp. *mem gets an address inside
// the libjpeg that made the struct, and *raised one inside the libjpeg that raised an error.
static long decode_jpeg(const struct jpeg_bytes* image, enum how how, void** mem, void** raised) {
  struct jpeg_decompress_struct d;
  struct guarded_error error;
  unsigned char* volatile copy = NULL;
  unsigned char row[IMAGE_WIDTH * 4];
  memset(&d, 0, sizeof d);
  d.err = jpeg_std_error(&error.base);
  error.base.error_exit = escape;
  error.base.emit_message = escape_on_warning;
  error.raised_at = NULL;
  if (setjmp(error.escape)) {
    if (raised != NULL) *raised = error.raised_at;
    if (how == GENERIC) {
      jpeg_destroy((j_common_ptr)&d);
    } else {
      jpeg_destroy_decompress(&d);
    }
    free(copy);
    return -1;
  }
  jpeg_create_decompress(&d);
  if (mem != NULL) *mem = (void*)d.mem->alloc_small;
  copy = malloc(image->size);
  memcpy(copy, image->data, image->size);
  if (how == BAD_HEADER) copy[1] = 0;
  if (how == BAD_SCAN) memset(copy + image->size / 2 + 200, 0xff, image->size / 2 - 202);
  if (how == TABLES) {
    static const unsigned char tables[4] = {0xff, 0xd8, 0xff, 0xd9};
    jpeg_mem_src(&d, (unsigned char*)tables, sizeof tables);
    if (jpeg_read_header(&d, FALSE) != JPEG_HEADER_TABLES_ONLY) abort();
  }
  jpeg_mem_src(&d, copy, image->size);
  jpeg_read_header(&d, TRUE);
  long sum = 0;
  if (how == HEADER_ONLY) {
    jpeg_destroy_decompress(&d);
    free(copy);
    return 0;
  }
  if (how == BAD_START) d.out_color_space = JCS_YCCK;
  jpeg_start_decompress(&d);
  const int half = how == HALF || how == HALF_GENERIC || how == EARLY_FINISH;
  const unsigned lines = half ? d.output_height / 2 : d.output_height;
  while (d.output_scanline < lines) {
    JSAMPROW rows[1] = {row};
    jpeg_read_scanlines(&d, rows, 1);
    for (unsigned x = 0; x < d.output_width * 3; ++x) sum += row[x];
  }
  if (how == HALF) jpeg_abort_decompress(&d);
  if (how == HALF_GENERIC) jpeg_abort((j_common_ptr)&d);
  if (!half && how != NO_FINISH) jpeg_finish_decompress(&d);
  if (how == EARLY_FINISH) jpeg_finish_decompress(&d);
  if (how == GENERIC) {
    jpeg_destroy((j_common_ptr)&d);
  } else {
    jpeg_destroy_decompress(&d);
  }
  free(copy);
  return sum;
}
