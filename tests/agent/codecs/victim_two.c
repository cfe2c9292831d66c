// SPDX-License-Identifier: Apache-2.0
//
// victim_two DIR: loads two extensions with RTLD_LOCAL, each with its own libjpeg. Prints for both
// which libjpeg made the struct, and which one the hooks called: the one that raised the error.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct jpeg_bytes {
  unsigned char* data;
  unsigned long size;
};

static const char* library_of(void* address) {
  Dl_info info;
  if (address == NULL || dladdr(address, &info) == 0) return "?";
  const char* slash = strrchr(info.dli_fname, '/');
  return slash != NULL ? slash + 1 : info.dli_fname;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  long (*decode[2])(const struct jpeg_bytes*, int, void**, void**);
  struct jpeg_bytes image = {NULL, 0};
  for (int i = 0; i < 2; ++i) {
    char path[4096];
    snprintf(path, sizeof path, "%s/jpeg_ext_%c.so", argv[1], 'a' + i);
    void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
      printf("error %s\n", dlerror());
      return 3;
    }
    *(void**)&decode[i] = dlsym(handle, "extension_decode");
    struct jpeg_bytes (*make)(void);
    *(void**)&make = dlsym(handle, "extension_make");
    if (i == 0) image = make();
  }
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 2; ++i) {
      void* mem = NULL;
      void* raised = NULL;
      const long good = decode[i](&image, 0, &mem, NULL);
      const long bad = decode[i](&image, 7, &mem, &raised);  // BAD_HEADER
      printf("copy.%c.%d made %s raised %s good %d bad %ld\n", 'a' + i, round, library_of(mem),
             library_of(raised), good > 0, bad);
    }
  }
  return 0;
}
