/* SPDX-License-Identifier: Apache-2.0
 *
 * CUPTI's double: fills buffers with records of the calls that the driver's double passes on, and
 * misbehaves as FAKE_CUPTI says. It is built three times: as of CUDA 12, with FAKE_OLD as of CUDA
 * 11.0 (smaller records, none of the later functions), and with FAKE_13 as of CUDA 13.2. It writes
 * to the file FAKE_TRUTH what really happened, with times of CLOCK_MONOTONIC:
 *
 *   call|copy|set|kernel CORRELATION START END TID BYTES
 *   child                          a forked process has called in here
 *   enabled                        something is still recorded when the library is unloaded
 *   refused                        a request at the very end got no buffer
 *   unread N                       records behind one that it called invalid
 *
 * As CUPTI before CUDA 12.9 does, it aborts the program if it gets no buffer. FAKE_VERSION is the
 * version that it claims to be.
 */
#include <dlfcn.h>
#include <pthread.h>

#include "tests/agent/gpu/fake_cupti_base.h"

typedef void Request(uint8_t** buffer, size_t* size, size_t* records);
typedef void Complete(void* context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Request* request;
static Complete* complete;
static int enabled[64];
static int calls_enabled;
static int system_ids;
static uint8_t* buffer;
static size_t capacity, used;
static uint8_t held[64][256]; /* records in reverse order */
static size_t held_size[64];
static int held_count;
static uint32_t correlation;
static uint64_t device_free; /* when the device has done all its work, CLOCK_MONOTONIC */
static unsigned flushes, rounds, works, lost, requests, costs;
static size_t pool = 250;   /* buffers on the device, CUPTI's default; here of one record each */
static uint64_t busy_until; /* when the device has done the work in the buffer, CLOCK_MONOTONIC */
static int taken;           /* another client has registered its functions */

static void HandBack(void) {
  if (buffer != NULL) {
    uint8_t* full = buffer;
    buffer = NULL;
    busy_until = 0;
    if (Is("stolen") || taken) return; /* another client's function gets it */
    complete(NULL, 0, full, capacity, used);
  }
}

static void Append(const uint8_t* record, size_t size) {
  if (taken && buffer == NULL) return; /* the other client gets it */
  if (buffer != NULL && used + size > capacity) HandBack();
  if (buffer == NULL) {
    size_t records = 0;
    used = capacity = 0;
    request(&buffer, &capacity, &records);
    __atomic_add_fetch(&requests, 1, __ATOMIC_RELAXED);
    if (buffer == NULL) {
      if (Version() < 27) abort();
      ++lost;
      return;
    }
    for (size_t i = 0; i < 4096; ++i) {
      if (buffer[i] != 0) abort(); /* the agent promises zeroed buffers */
    }
    if (Is("small")) capacity = 4096;
    if (Is("flood")) capacity = 512;
  }
  memcpy(buffer + used, record, size);
  used += size;
}

static void Put(const uint8_t* record, size_t size) {
  if (Is("unordered") && held_count < 64) {
    memcpy(held[held_count], record, size);
    held_size[held_count++] = size;
    return;
  }
  Append(record, size);
}

static void Release(void) {
  while (held_count > 0) {
    --held_count;
    Append(held[held_count], held_size[held_count]);
  }
}

static void PutWork(const struct FakeCall* call, uint64_t start, uint64_t end) {
  uint8_t r[256] = {0};
  const int kind = call->what == kFakeCopy ? kMemcpy : call->what == kFakeSet ? kMemset : kKernel;
  if (!enabled[kind]) return;
  ++works;
  if ((Is("zero") && works % 3 == 0) || (Is("pool") && works > pool)) start = end = 0;
  if (Is("realtime") && works > 20) {
    start = ForeignClock(start);
    end = ForeignClock(end);
  }
  FIELD(r, 0, uint32_t, kind);
  FIELD(r, 16, uint64_t, start);
  FIELD(r, 24, uint64_t, end);
  if (kind == kKernel) {
    FIELD(r, 40, uint32_t, 1);
    FIELD(r, 48, uint32_t, call->stream);
    FIELD(r, 92, uint32_t, correlation);
    FIELD(r, 104, const char*, call->kernel);
    Put(r, kKernelSize);
    return;
  }
  FIELD(r, 4, uint8_t, call->copy_kind);
  FIELD(r, 5, uint8_t, call->source_kind);
  FIELD(r, 6, uint8_t, call->destination_kind);
  FIELD(r, 8, uint64_t, call->bytes);
  FIELD(r, 32, uint32_t, 1);
  FIELD(r, 40, uint32_t, call->stream);
  FIELD(r, 44, uint32_t, correlation);
  Put(r, kind == kMemcpy ? kMemcpySize : kMemsetSize);
}

static void PutCall(const struct FakeCall* call, uint64_t start, uint64_t end) {
  uint8_t r[kApiSize] = {0};
  FIELD(r, 0, uint32_t, kRuntime);
  FIELD(r, 4, uint32_t, call->callback);
  FIELD(r, 8, uint64_t, start);
  FIELD(r, 16, uint64_t, end);
  FIELD(r, 24, uint32_t, getpid());
  FIELD(r, 28, uint32_t, system_ids ? (uint64_t)syscall(SYS_gettid) : (uint64_t)pthread_self());
  FIELD(r, 32, uint32_t, correlation);
  Put(r, kApiSize);
}

static void PutOther(uint32_t kind, size_t size, uint64_t start, uint64_t end) {
  uint8_t r[64] = {0};
  FIELD(r, 0, uint32_t, kind);
  if (kind == kOverhead) {
    static const uint32_t kLoading[] = {1, 4u << 16, 5u << 16};
    FIELD(r, 4, uint32_t, Is("loading") ? kLoading[costs++ % 3] : 7u << 16);
    FIELD(r, 24, uint64_t, start);
    FIELD(r, 32, uint64_t, end);
  } else if (kind == kSync) {
    FIELD(r, 4, uint32_t, 3);
    FIELD(r, 8, uint64_t, start);
    FIELD(r, 16, uint64_t, end);
    FIELD(r, 24, uint32_t, correlation);
  }
  Put(r, size);
}

static void Sink(const struct FakeCall* call) {
  pthread_mutex_lock(&lock);
  CheckProcess();
  ++correlation;
  uint64_t begin, begin_stamp, end, end_stamp;
  Both(&begin, &begin_stamp);
  const uint64_t work_begin = (device_free > begin + 1500 ? device_free : begin + 1500);
  const uint64_t work_end = work_begin + call->device_ns;
  const int works_on_device = call->what <= kFakeKernel;
  if (works_on_device) device_free = work_end;
  const uint64_t until =
      call->blocks && device_free > begin + call->call_ns ? device_free : begin + call->call_ns;
  pthread_mutex_unlock(&lock);
  while (Read(CLOCK_MONOTONIC) < until) {
  }
  pthread_mutex_lock(&lock);
  /* The second stamp follows from the first: both clocks are read together once a call. */
  end = Read(CLOCK_MONOTONIC);
  end_stamp = begin_stamp + (end - begin);
  const uint32_t own = correlation;
  char line[200];
  if (works_on_device && request != NULL) {
    PutWork(call, begin_stamp + (work_begin - begin), begin_stamp + (work_end - begin));
    busy_until = work_end;
    snprintf(line, sizeof line, "%s %u %llu %llu %ld %llu\n",
             call->what == kFakeCopy  ? "copy"
             : call->what == kFakeSet ? "set"
                                      : "kernel",
             own, (unsigned long long)work_begin, (unsigned long long)work_end, syscall(SYS_gettid),
             (unsigned long long)call->bytes);
    Truth(line);
  }
  if (request != NULL && (enabled[kRuntime] || calls_enabled)) {
    PutCall(call, begin_stamp, end_stamp);
    snprintf(line, sizeof line, "call %u %llu %llu %ld 0\n", own, (unsigned long long)begin,
             (unsigned long long)end, syscall(SYS_gettid));
    Truth(line);
    if (call->what == kFakeWait && enabled[kSync])
      PutOther(kSync, kSyncSize, begin_stamp, end_stamp);
    if (Is("unknown")) PutOther(77, kStrangeSize, 0, 0);
    if (correlation % 5 == 0 && enabled[kOverhead]) {
      PutOther(kOverhead, kOverheadSize, begin_stamp, begin_stamp + 100);
    }
  }
  pthread_mutex_unlock(&lock);
}

/* ---- what a client calls --------------------------------------------------------------------- */

/* With a driver of CUDA 12, CUPTI of CUDA 13.2 cannot initialise and calls itself until its stack
 * ends. This one aborts. */
static void Initialise(void) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  int (*ask)(int*) = driver != NULL ? (int (*)(int*))dlsym(driver, "cuDriverGetVersion") : NULL;
  int version = 0;
  if (kVersion >= 130000 && (ask == NULL || ask(&version) != 0 || version < 13000)) abort();
}

int cuptiSubscribe(void** subscriber, void* callback, void* user) {
  Initialise();
  (void)callback;
  (void)user;
  CheckProcess();
  if (Is("busy")) return kVersion < 18 ? 12 : 39;
  if (Is("nodriver")) return 999;
  if (Is("privileges")) return 35;
  owner = getpid();
  *subscriber = &owner;
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  void (*set)(FakeSink*) =
      driver != NULL ? (void (*)(FakeSink*))dlsym(driver, "fake_cuda_set_sink") : NULL;
  if (set == NULL) return 999;
  set(Sink);
  return 0;
}
int cuptiUnsubscribe(void* subscriber) {
  return subscriber == &owner ? 0 : 1;
}
int cuptiActivityRegisterCallbacks(Request* on_request, Complete* on_complete) {
  if (Is("nobuffers")) return 999;
  request = on_request;
  complete = on_complete;
  return 0;
}
int cuptiActivityEnable(uint32_t kind) {
  if (Is("nokinds")) return 27;
  enabled[kind & 63] = 1;
  return 0;
}
int cuptiActivityDisable(uint32_t kind) {
  enabled[kind & 63] = 0;
  return 0;
}
/* Clears the times of records whose work the device has not ended yet. */
static void Unstamp(void) {
  const uint64_t now = StampClock();
  for (size_t at = 0; at < used; at += SizeOf(buffer + at)) {
    uint32_t kind;
    uint64_t end;
    memcpy(&kind, buffer + at, sizeof kind);
    memcpy(&end, buffer + at + 24, sizeof end);
    if ((kind == kMemcpy || kind == kMemset || kind == kKernel) && end > now) {
      memset(buffer + at + 16, 0, 16);
    }
  }
}
/* Does what another client of CUPTI might do, once some records have come. */
static void Interfere(void) {
  if (Is("stolenlater")) taken = 1;
  if (Is("disabled")) {
    memset(enabled, 0, sizeof enabled);
    calls_enabled = 0;
  }
  if (Is("halfdisabled")) enabled[kMemcpy] = enabled[kKernel] = enabled[kRuntime] = 0;
}
int cuptiActivityFlushAll(uint32_t flag) {
  CheckProcess();
  if (Is("hang") && (flag != 0 || ++flushes > 2)) {
    for (;;) pause();
  }
  if (Is("flood")) { /* waits until more buffers were requested than there are */
    while (__atomic_load_n(&requests, __ATOMIC_RELAXED) < 150) usleep(1000);
  }
  pthread_mutex_lock(&lock);
  Release();
  if (Is("null") && complete != NULL) complete(NULL, 0, NULL, 0, 0);
  if (Is("foreign") && complete != NULL) {
    static uint8_t other[4096];
    complete(NULL, 0, other, sizeof other, sizeof other);
  }
  const int withheld = Is("inflight") && buffer != NULL && Read(CLOCK_MONOTONIC) < busy_until;
  if (withheld && flag != 0) Unstamp();
  if (!Is("late") && (!withheld || flag != 0)) HandBack();
  if (++rounds == 2) Interfere();
  pthread_mutex_unlock(&lock);
  return 0;
}
int cuptiActivityGetNextRecord(uint8_t* from, size_t valid, uint8_t** record) {
  uint8_t* next = *record == NULL ? from : *record + SizeOf(*record);
  if (next >= from + valid) return 12;
  if (Is("incomplete") && *record != NULL && (size_t)(*record - from) > valid / 2) {
    unsigned unread = 0;
    for (; next < from + valid; next += SizeOf(next)) ++unread;
    char line[40];
    snprintf(line, sizeof line, "unread %u\n", unread);
    Truth(line);
    return 21;
  }
  *record = next;
  return 0;
}
int cuptiGetTimestamp(uint64_t* ns) {
  *ns = StampClock();
  return 0;
}
int cuptiGetVersion(uint32_t* version) {
  Initialise();
  *version = Version();
  return 0;
}
int cuptiActivityGetNumDroppedRecords(void* context, uint32_t stream, size_t* dropped) {
  (void)context;
  (void)stream;
  static int told;
  *dropped = Is("drops") && !told ? 5 : 0;
  told = 1;
  return 0;
}
int cuptiGetCallbackName(uint32_t domain, uint32_t callback, const char** name) {
  static const struct {
    uint32_t callback;
    const char* name;
  } kNames[] = {{10, "cudaGetLastError_v3020"},
                {27, "cudaHostAlloc_v3020"},
                {31, "cudaMemcpy_v3020"},
                {41, "cudaMemcpyAsync_v3020"},
                {51, "cudaMemsetAsync_v3020"},
                {131, "cudaStreamSynchronize_v3020"},
                {165, "cudaDeviceSynchronize_v3020"},
                {211, "cudaLaunchKernel_v7000"}};
  for (size_t i = 0; domain == 2 && i < sizeof kNames / sizeof kNames[0]; ++i) {
    if (kNames[i].callback == callback) {
      *name = kNames[i].name;
      return 0;
    }
  }
  return 1;
}

#ifndef FAKE_OLD
int cuptiActivitySetAttribute(uint32_t attribute, size_t* size, void* value) {
  if (attribute == 2) memcpy(&pool, value, sizeof pool);
  return attribute != 5 || (*size == 1 && *(uint8_t*)value == 1) ? 0 : 1;
}
int cuptiSetThreadIdType(uint32_t type) {
  if (Is("threads")) return 1;
  system_ids = type == 1;
  return 0;
}
int cuptiActivityRegisterTimestampCallback(uint64_t (*now)(void)) {
  if (Is("ownclock")) return 14;
  clock_of_client = now;
  return 0;
}
int cuptiActivityEnableRuntimeApi(uint32_t callback, uint8_t on) {
  (void)callback;
  calls_enabled = on;
  return 0;
}
int cuptiActivityEnableDriverApi(uint32_t callback, uint8_t on) {
  (void)callback;
  (void)on;
  return 0;
}
int cuptiSubscribe_v2(void** subscriber, void* callback, void* user, void* parameters) {
  (void)subscriber;
  (void)callback;
  (void)user;
  struct {
    size_t size;
    const char* name;
    char* old_name;
    size_t old_size;
  } p;
  memcpy(&p, parameters, sizeof p);
  if (p.size != sizeof p) return 1;
  snprintf(p.old_name, p.old_size, "Nsight Systems");
  return 39;
}
#endif

/* Runs after everything else, since this library is unloaded last. Buffers still come back. */
__attribute__((destructor)) static void Late(void) {
  if (owner != getpid() || complete == NULL) return;
  if (Is("late")) HandBack();
  if (!Is("afterend")) return;
  int on = calls_enabled;
  for (size_t i = 0; i < sizeof enabled / sizeof enabled[0]; ++i) on |= enabled[i];
  if (on) Truth("enabled\n");
  /* The program makes records so late that they fill ten more buffers. */
  static const uint8_t strange[4096] = {77};
  for (int i = 0; i < 10 * 256; ++i) Append(strange, sizeof strange);
  if (lost != 0) Truth("refused\n");
}
