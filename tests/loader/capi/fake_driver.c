/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of NVIDIA's driver that HostPinner calls, for one device. They fail as in the real
 * driver: without cuInit(), without a context, for memory that is locked already or is not locked,
 * and above a limit. */
#include <stddef.h>

enum { kSuccess, kInvalidValue = 1, kOutOfMemory = 2, kNotInitialized = 3, kInvalidDevice = 101 };
enum { kInvalidContext = 201, kAlreadyRegistered = 712, kNotRegistered = 713, kMost = 64 };

static int initialized;
static int retained;
static _Thread_local int pushed;
static int context;
static void* registered[kMost];
static size_t limit = (size_t)-1;

/* For the test. */
int fake_retained(void);
int fake_pushed(void);
int fake_registered(void);
void fake_limit(size_t bytes);

int fake_retained(void) {
  return retained;
}
int fake_pushed(void) {
  return pushed;
}
int fake_registered(void) {
  int count = 0;
  for (int i = 0; i < kMost; ++i) count += registered[i] != NULL;
  return count;
}
void fake_limit(size_t bytes) {
  limit = bytes;
}

int cuInit(unsigned flags);
int cuDeviceGet(int* device, int number);
int cuDevicePrimaryCtxRetain(void** made, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxPushCurrent_v2(void* one);
int cuCtxPopCurrent_v2(void** one);
int cuMemHostRegister_v2(void* memory, size_t bytes, unsigned flags);
int cuMemHostUnregister(void* memory);

int cuInit(unsigned flags) {
  initialized = 1;
  return flags == 0 ? kSuccess : kInvalidValue;
}

int cuDeviceGet(int* device, int number) {
  if (!initialized) return kNotInitialized;
  if (number != 0) return kInvalidDevice;
  *device = 7;
  return kSuccess;
}

int cuDevicePrimaryCtxRetain(void** made, int device) {
  if (device != 7) return kInvalidDevice;
  ++retained;
  *made = &context;
  return kSuccess;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  if (device != 7 || retained == 0) return kInvalidDevice;
  --retained;
  return kSuccess;
}

int cuCtxPushCurrent_v2(void* one) {
  if (one != &context) return kInvalidContext;
  ++pushed;
  return kSuccess;
}

int cuCtxPopCurrent_v2(void** one) {
  if (pushed == 0) return kInvalidContext;
  --pushed;
  *one = &context;
  return kSuccess;
}

static int place_of(const void* memory) {
  for (int i = 0; i < kMost; ++i) {
    if (registered[i] == memory) return i;
  }
  return -1;
}

int cuMemHostRegister_v2(void* memory, size_t bytes, unsigned flags) {
  if (pushed == 0 || retained == 0) return kInvalidContext;
  if (memory == NULL || flags != 1) return kInvalidValue;
  if (bytes > limit) return kOutOfMemory;
  if (place_of(memory) >= 0) return kAlreadyRegistered;
  const int place = place_of(NULL);
  if (place < 0) return kOutOfMemory;
  registered[place] = memory;
  return kSuccess;
}

int cuMemHostUnregister(void* memory) {
  if (pushed == 0 || retained == 0) return kInvalidContext;
  const int place = memory == NULL ? -1 : place_of(memory);
  if (place < 0) return kNotRegistered;
  registered[place] = NULL;
  return kSuccess;
}
