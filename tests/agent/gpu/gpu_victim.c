/* SPDX-License-Identifier: Apache-2.0
 *
 * A small training loop: takes batches, copies them to the device (pageable and pinned), launches
 * kernels on its own thread and on one that takes no batches, and waits. It prints a sum of its
 * results. A run under any tool must print the same and end the same. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "traces/native_bridge.h"

int cudaMemcpy(void* to, const void* from, size_t size, int kind);
int cudaMemcpy_ptds(void* to, const void* from, size_t size, int kind);
int cudaMemcpyAsync(void* to, const void* from, size_t size, int kind, void* stream);
int cudaMemsetAsync(void* to, int value, size_t size, void* stream);
int cudaLaunchKernel(const void* f, const void* shape, void** arguments, size_t shared,
                     void* stream);
int cudaStreamSynchronize(void* stream);
int cudaDeviceSynchronize(void);
int cudaHostAlloc(void** memory, size_t size, unsigned flags);
int cudaGetLastError(void);

enum { kBytes = 300000, kGeneration = 3 };
static char pageable[kBytes];
static char device[2 * kBytes];
static char* pinned;
static const PenstockNativeBridge* bridge;
static unsigned sum;
static int trouble; /* errors of the runtime, combined */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int wanted, finished, over;

/* Stands in front of libc's function. If the caller blocks signals, its mask goes to FAKE_TRUTH:
 * glibc before 2.32 gives the new thread this mask as it is, later versions correct it. */
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* argument) {
  unsigned long long mask = 0;
  syscall(SYS_rt_sigprocmask, 0, NULL, &mask, sizeof mask);
  const char* path = getenv("FAKE_TRUTH");
  FILE* file = mask != 0 && path != NULL ? fopen(path, "a") : NULL;
  if (file != NULL) {
    fprintf(file, "mask %llx\n", mask);
    fclose(file);
  }
  int (*real)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) =
      (int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*))dlsym(RTLD_NEXT,
                                                                                 "pthread_create");
  return real(thread, attributes, run, argument);
}

static void* Backward(void* unused) {
  (void)unused;
  pthread_mutex_lock(&mutex);
  while (!over) {
    if (wanted > finished) {
      trouble |= cudaLaunchKernel("backward_kernel", NULL, NULL, 0, NULL);
      ++finished;
      pthread_cond_broadcast(&changed);
    } else {
      pthread_cond_wait(&changed, &mutex);
    }
  }
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static void Step(uint32_t batch, int ptds) {
  if (bridge != NULL) {
    const PenstockPlace place = {-1, batch, kGeneration};
    bridge->delivered(&place);
  }
  for (int i = 0; i < kBytes; ++i) pageable[i] = (char)(batch * 31 + (unsigned)i);
  trouble |= cudaMemcpyAsync(device, pageable, kBytes, 1, NULL);
  if (pinned != NULL) {
    memcpy(pinned, pageable, kBytes);
    trouble |= cudaMemcpyAsync(device + kBytes, pinned, kBytes, 1, (void*)(size_t)(2));
  }
  trouble |= cudaMemsetAsync(device, 1, 64, NULL);
  trouble |= cudaLaunchKernel("forward_kernel", NULL, NULL, 0, NULL);
  trouble |= cudaGetLastError();
  pthread_mutex_lock(&mutex);
  ++wanted;
  pthread_cond_broadcast(&changed);
  while (finished < wanted) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  trouble |= cudaStreamSynchronize(NULL);
  char result[64] = {0};
  trouble |= (ptds ? cudaMemcpy_ptds : cudaMemcpy)(result, device + 128, sizeof result, 2);
  for (size_t i = 0; i < sizeof result; ++i) sum = sum * 33 + (unsigned char)result[i];
}

/* A step that does not wait for the device, which falls further behind each time. */
static void StepAhead(uint32_t batch, const char* kernel) {
  if (bridge != NULL) {
    const PenstockPlace place = {-1, batch, kGeneration};
    bridge->delivered(&place);
  }
  trouble |= cudaMemcpyAsync(device, pinned, kBytes, 1, NULL);
  trouble |= cudaLaunchKernel(kernel, NULL, NULL, 0, NULL);
}

/* A loader's worker: it is forked from the process that owns the device, and ends by itself. */
static int Worker(void) {
  const pid_t pid = fork();
  if (pid == 0) {
    usleep(600000);
    exit(11); /* handlers that were registered in the parent run here */
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "train";
  const int steps = argc > 2 ? atoi(argv[2]) : 8;
  /* PyTorch, too, loads CUPTI before the driver. */
  const char* mapped = getenv("FAKE_MAPPED");
  if (mapped != NULL && dlopen(mapped, RTLD_NOW | RTLD_LOCAL) == NULL) return 2;
  PenstockNativeBridgeFunction* get =
      (PenstockNativeBridgeFunction*)dlsym(RTLD_DEFAULT, PENSTOCK_NATIVE_BRIDGE);
  bridge = get != NULL ? get() : NULL;
  trouble |= cudaHostAlloc((void**)&pinned, kBytes, 0);
  pthread_t backward;
  if (pthread_create(&backward, NULL, Backward, NULL) != 0) return 1;
  for (int i = 0; i < steps; ++i) {
    if (strcmp(how, "query") == 0) {
      trouble |= cudaGetLastError();
    } else if (strncmp(how, "ahead", 5) == 0) {
      StepAhead((uint32_t)i, strcmp(how, "ahead") == 0 ? "long_kernel" : "longest_kernel");
    } else {
      Step((uint32_t)i, strcmp(how, "ptds") == 0);
    }
    if (strncmp(how, "slow", 4) == 0 || strncmp(how, "ahead", 5) == 0) usleep(40000);
  }
  trouble |= cudaDeviceSynchronize();
  pthread_mutex_lock(&mutex);
  over = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  pthread_join(backward, NULL);
  const int worker = strcmp(how, "fork") == 0 ? Worker() : 0;
  printf("sum %u, trouble %d, worker %d\n", sum, trouble, worker);
  fflush(stdout);
  if (strcmp(how, "slow_exit") == 0) _exit(5);
  return 7;
}
