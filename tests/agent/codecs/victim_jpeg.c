// SPDX-License-Identifier: Apache-2.0
//
// victim_jpeg ways | storm | suspend | bench
#include <pthread.h>
#include <time.h>

#include "tests/agent/codecs/jpeg_image.h"

static struct jpeg_bytes image;

static void* storm(void* unused) {
  static const enum how ways[4] = {WHOLE, BAD_HEADER, BAD_SCAN, BAD_START};
  long bad = 0;
  for (int i = 0; i < 1000; ++i) {
    const long sum = decode_jpeg(&image, ways[i % 4], NULL, NULL);
    if ((i % 4 == 0) != (sum >= 0)) ++bad;
  }
  (void)unused;
  return (void*)bad;
}

// Like Pillow, gives the decoder part of the data at a time, here 100 bytes.
static unsigned long given;
static boolean no_more(j_decompress_ptr d) {
  (void)d;
  return FALSE;
}
static void nothing(j_decompress_ptr d) {
  (void)d;
}
static void skip(j_decompress_ptr d, long count) {
  if ((size_t)count > d->src->bytes_in_buffer) abort();
  d->src->next_input_byte += count;
  d->src->bytes_in_buffer -= (size_t)count;
}
static void feed(j_decompress_ptr d) {
  const unsigned long more = image.size - given < 100 ? image.size - given : 100;
  if (d->src->next_input_byte == NULL) d->src->next_input_byte = image.data;
  d->src->bytes_in_buffer += more;
  given += more;
}

static void suspend(void) {
  struct jpeg_decompress_struct d;
  struct jpeg_error_mgr error;
  struct jpeg_source_mgr source = {0};
  d.err = jpeg_std_error(&error);
  jpeg_create_decompress(&d);
  source.init_source = nothing;
  source.fill_input_buffer = no_more;
  source.skip_input_data = skip;
  source.resync_to_restart = jpeg_resync_to_restart;
  source.term_source = nothing;
  d.src = &source;
  given = 0;
  int headers = 1;
  for (; jpeg_read_header(&d, TRUE) == JPEG_SUSPENDED; ++headers) feed(&d);
  while (!jpeg_start_decompress(&d)) feed(&d);
  unsigned char row[IMAGE_WIDTH * 3];
  while (d.output_scanline < d.output_height) {
    JSAMPROW rows[1] = {row};
    if (jpeg_read_scanlines(&d, rows, 1) == 0) feed(&d);
  }
  while (!jpeg_finish_decompress(&d)) feed(&d);
  jpeg_destroy_decompress(&d);
  printf("headers %d\n", headers);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  image = make_jpeg();
  if (strcmp(argv[1], "ways") == 0) {
    for (int how = 0; how < HOWS; ++how) {
      printf("way.%d %ld\n", how, decode_jpeg(&image, (enum how)how, NULL, NULL));
    }
  } else if (strcmp(argv[1], "storm") == 0) {
    pthread_t threads[3];
    long bad = 0;
    for (int t = 0; t < 3; ++t) pthread_create(&threads[t], NULL, storm, NULL);
    for (int t = 0; t < 3; ++t) {
      void* result;
      pthread_join(threads[t], &result);
      bad += (long)result;
    }
    bad += decode_jpeg(&image, WHOLE, NULL, NULL) < 0;
    printf("bad %ld\n", bad);
  } else if (strcmp(argv[1], "suspend") == 0) {
    suspend();
  } else if (strcmp(argv[1], "bench") == 0) {
    double best = 1e9;
    for (int round = 0; round < 9; ++round) {
      const double start = seconds();
      for (int i = 0; i < 500; ++i) decode_jpeg(&image, WHOLE, NULL, NULL);
      const double each = (seconds() - start) / 500 * 1e6;
      if (each < best) best = each;
    }
    printf("microseconds %.3f\n", best);
  }
  free(image.data);
  return 0;
}
