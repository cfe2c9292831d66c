/* SPDX-License-Identifier: Apache-2.0
 *
 * The driver's double: loads the tool in CUDA_INJECTION64_PATH as libcuda does, and passes calls on
 * to CUPTI's double.
 */
#include "tests/agent/gpu/fake_cuda.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static FakeSink* sink;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint64_t Now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static size_t Variables(void) {
  size_t n = 0;
  while (environ[n] != NULL) ++n;
  return n;
}

static void Inject(void) {
  const size_t variables = Variables();
  const char* path = getenv("CUDA_INJECTION64_PATH");
  void* tool = path != NULL ? dlopen(path, RTLD_LAZY) : NULL;
  int (*initialise)(void) = tool != NULL ? (int (*)(void))dlsym(tool, "InitializeInjection") : NULL;
  if (initialise != NULL && initialise() != 1) {
    fputs("fake_cuda: the tool says no\n", stderr);
    abort();
  }
  if (getenv("FAKE_ENVIRONMENT") != NULL && (initialise == NULL || Variables() != variables)) {
    fputs("fake_cuda: no tool, or one that changes the environment\n", stderr);
    abort();
  }
}

int cuInit(unsigned flags) {
  (void)flags;
  pthread_once(&once, Inject);
  return 0;
}

/* FAKE_DRIVER: the version of CUDA that the driver belongs to. */
int cuDriverGetVersion(int* version) {
  const char* value = getenv("FAKE_DRIVER");
  *version = value != NULL ? atoi(value) : 12080;
  return 0;
}

void fake_cuda_set_sink(FakeSink* to) {
  __atomic_store_n(&sink, to, __ATOMIC_RELEASE);
}

void fake_cuda_do(const struct FakeCall* call) {
  FakeSink* to = __atomic_load_n(&sink, __ATOMIC_ACQUIRE);
  if (to != NULL) {
    to(call);
    return;
  }
  const uint64_t end = Now() + call->call_ns + (call->blocks ? call->device_ns : 0);
  while (Now() < end) {
  }
}
