/* SPDX-License-Identifier: Apache-2.0
 *
 * The runtime's double: a dozen functions with the runtime's signatures. Copies do copy. It loads
 * the driver at the first call that needs it. Without a driver it returns the runtime's error. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/agent/gpu/fake_cuda.h"

enum { kInsufficientDriver = 35 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void (*act)(const struct FakeCall*);
static char* pinned;
static size_t pinned_size;

static void Load(void) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  int (*initialise)(unsigned) = driver != NULL ? (int (*)(unsigned))dlsym(driver, "cuInit") : NULL;
  if (initialise != NULL && initialise(0) == 0) {
    act = (void (*)(const struct FakeCall*))dlsym(driver, "fake_cuda_do");
  }
}

static int Do(struct FakeCall call) {
  pthread_once(&once, Load);
  if (act == NULL) return kInsufficientDriver;
  call.call_ns = 3000;
  act(&call);
  return 0;
}

static uint8_t HostKind(const void* p) {
  const char* at = p;
  return at >= pinned && at < pinned + pinned_size ? 2 : 1;
}

static int Copy(uint32_t callback, void* to, const void* from, size_t size, int kind, void* stream,
                int blocks) {
  struct FakeCall call = {.what = kFakeCopy, .callback = callback, .bytes = size};
  call.copy_kind = (uint8_t)(kind == 1 ? 1 : kind == 2 ? 2 : 8);
  call.source_kind = (uint8_t)(kind == 1 ? HostKind(from) : 3);
  call.destination_kind = (uint8_t)(kind == 2 ? HostKind(to) : 3);
  call.stream = (uint32_t)(uintptr_t)stream + 7;
  call.device_ns = 2000 + size / 20;
  call.blocks = blocks || call.source_kind == 1 || call.destination_kind == 1;
  const int status = Do(call);
  if (status == 0) memmove(to, from, size);
  return status;
}

int cudaMemcpy(void* to, const void* from, size_t size, int kind) {
  return Copy(31, to, from, size, kind, NULL, 1);
}
int cudaMemcpy_ptds(void* to, const void* from, size_t size, int kind) {
  return Copy(215, to, from, size, kind, NULL, 1);
}
int cudaMemcpyAsync(void* to, const void* from, size_t size, int kind, void* stream) {
  return Copy(41, to, from, size, kind, stream, 0);
}
int cudaMemsetAsync(void* to, int value, size_t size, void* stream) {
  struct FakeCall call = {.what = kFakeSet, .callback = 51, .bytes = size, .device_ns = 1000};
  call.stream = (uint32_t)(uintptr_t)stream + 7;
  const int status = Do(call);
  if (status == 0) memset(to, value, size);
  return status;
}
int cudaLaunchKernel(const void* function, const void* shape, void** arguments, size_t shared,
                     void* stream) {
  (void)shape;
  (void)arguments;
  (void)shared;
  struct FakeCall call = {.what = kFakeKernel, .callback = 211, .kernel = function};
  call.stream = (uint32_t)(uintptr_t)stream + 7;
  call.device_ns = strcmp(function, "long_kernel") == 0      ? 60000000
                   : strcmp(function, "longest_kernel") == 0 ? 200000000
                                                             : 20000;
  return Do(call);
}
int cudaStreamSynchronize(void* stream) {
  struct FakeCall call = {.what = kFakeWait, .callback = 131, .blocks = 1};
  call.stream = (uint32_t)(uintptr_t)stream + 7;
  return Do(call);
}
int cudaDeviceSynchronize(void) {
  struct FakeCall call = {.what = kFakeWait, .callback = 165, .blocks = 1, .stream = 7};
  return Do(call);
}
int cudaHostAlloc(void** memory, size_t size, unsigned flags) {
  (void)flags;
  struct FakeCall call = {.what = kFakeOther, .callback = 27};
  const int status = Do(call);
  *memory = status == 0 ? calloc(1, size) : NULL;
  pinned = *memory;
  pinned_size = size;
  return status;
}
int cudaGetLastError(void) {
  struct FakeCall call = {.what = kFakeOther, .callback = 10};
  return Do(call);
}
