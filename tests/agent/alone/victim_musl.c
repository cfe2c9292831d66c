// SPDX-License-Identifier: Apache-2.0
//
// A program of another C library: reads a file in three ways, then runs the command in its other
// arguments, if any.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  char buffer[256];
  long total = 0;
  int file = open(argv[1], O_RDONLY);
  for (long n; (n = read(file, buffer, sizeof buffer)) > 0;) total += n;
  total += pread(file, buffer, 100, 7);
  void* map = mmap(0, 100, PROT_READ, MAP_PRIVATE, file, 0);
  total += map != MAP_FAILED;
  int copy = dup(file);
  close(file);
  FILE* stream = fdopen(copy, "rb");
  total += (long)fread(buffer, 1, 100, stream);
  fclose(stream);
  stream = fopen(argv[1], "rb");
  if (fgets(buffer, sizeof buffer, stream) != 0) total += buffer[0] != 1;
  fclose(stream);
  printf("%ld by musl\n", total);
  fflush(stdout);
  if (argc > 2) execv(argv[2], argv + 2);
  return argc > 2 ? 9 : 0;
}
