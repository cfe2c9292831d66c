// SPDX-License-Identifier: Apache-2.0
//
// The flush thread. (The agent starts one other, which looks for stalls: python_stalls.h.) Four
// times a second it asks CUPTI for complete buffers, reads both clocks before and after, and passes
// the records on. At the end of the program or of the recording it asks for the remaining buffers.
// CUPTI gives a buffer back when every record in it is complete. A program that ends without exit
// handlers (_exit, SIGKILL) loses records: those of the last quarter of a second if the device is
// idle now and then. If the device is never idle, it loses all records since the last full and
// complete buffer: up to kBufferSize bytes, thousands of kernels. A forced flush would lose the
// records of unfinished work, so it is made only at the end.

#include <dlfcn.h>
#include <limits.h>
#include <signal.h>
#include <time.h>

#include "agent/core/anchor.h"
#include "agent/core/process.h"
#include "agent/gpu/cupti_buffers.h"
#include "agent/gpu/cupti_calls.h"
#include "agent/gpu/cupti_decode.h"
#include "agent/gpu/cupti_session.h"
#include "agent/gpu/cupti_watch.h"
#include "agent/gpu/device_records.h"
#include "agent/gpu/level.h"
#include "agent/hooks/hook.h"
#include "agent/system/strings.h"
#include "agent/system/symver.h"
#include "agent/system/sys.h"
#include "agent/system/time_namespace.h"

extern "C" int __cxa_atexit(void (*function)(void*), void* argument, void* object);

namespace penstock::agent::cupti {

Session g_session;

bool SessionIsOurs() {
  return __atomic_load_n(&g_session.pid, __ATOMIC_ACQUIRE) == sys::Pid();
}

// Reads the clock of the anchors: libc's clock, even if the program has preloaded another one.
// Converts the time to the time namespace of the recording.
uint64_t MonotonicNs() {
  struct timespec t;
  g_clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec) -
         static_cast<uint64_t>(g_clock_shift);
}

// Reads the clock of CUPTI's records and that of the recording together. Reads them five times and
// uses the reading that took least time.
void ReadClocks() {
  if (g_session.own_clock) {
    const wire::ClockAnchor anchor = TakeAnchor();
    g_session.clock.Add(anchor.monotonic_ns, anchor.ticks);
    return;
  }
  uint64_t best = ~uint64_t{0};
  uint64_t ns = 0;
  uint64_t ticks = 0;
  for (int i = 0; i < 5; ++i) {
    uint64_t stamp = 0;
    const uint64_t before = Now();
    if (g_session.cupti.functions.timestamp(&stamp) != kSuccess) {
      return;
    }
    const uint64_t after = Now();
    if (after - before < best) {
      best = after - before;
      ns = stamp;
      ticks = before + (after - before) / 2;
    }
  }
  g_session.clock.Add(ns, ticks);
}

void DisableRecords() {
  const Functions& f = g_session.cupti.functions;
  for (const uint32_t kind : kRecordedKinds) {
    f.disable(kind);
  }
  for (const uint16_t call : kRuntimeCalls) {
    if (f.enable_runtime_call != nullptr) {
      f.enable_runtime_call(call, 0);
    }
  }
  for (const uint16_t call : kDriverCalls) {
    if (f.enable_driver_call != nullptr) {
      f.enable_driver_call(call, 0);
    }
  }
}

namespace {

constexpr int64_t kFlushNs = 250000000;  // between two flushes
constexpr int64_t kEndNs = 2000000000;   // how long the program's end waits for the last flush
// How long the end of the recording waits for the device, in steps of kCatchUpStepNs. The collector
// waits only a second for all processes.
constexpr int64_t kCatchUpNs = 400000000;
constexpr int64_t kCatchUpStepNs = 50000000;

void Wait(const uint32_t* word, uint32_t while_it_is, int64_t ns) {
  struct timespec time = {ns / 1000000000, ns % 1000000000};
  sys::Call(SYS_futex, sys::Pointer(word), 0 /* FUTEX_WAIT */, static_cast<long>(while_it_is),
            sys::Pointer(&time), 0, 0);
}

void Wake(const uint32_t* word) {
  sys::Call(SYS_futex, sys::Pointer(word), 1 /* FUTEX_WAKE */, INT_MAX);
}

void ReadBuffers() {
  size_t valid = 0;
  for (uint8_t* buffer = NextFullBuffer(&valid); buffer != nullptr;
       buffer = NextFullBuffer(&valid)) {
    const Decoded decoded = DecodeBuffer(buffer, valid, g_session.clock, g_session.ticks_per_ns);
    RecycleBuffer(buffer, valid, decoded.records, decoded.unread);
  }
}

uint64_t g_dropped = 0;
RecordsWatch g_watch;
uint64_t g_began = 0;  // ns

void CountLost() {
  size_t lost = 0;
  if (g_session.cupti.functions.dropped(nullptr, 0, &lost) == kSuccess && lost != 0) {
    g_dropped += lost;
    CountDropped(lost);  // reports show this number first
  }
}

void Flush(uint32_t how) {
  ReadClocks();
  g_session.cupti.functions.flush_all(how);
  ReadClocks();
  ReadBuffers();
  CountLost();
  StockBuffers();
}

void Watch(const CudaCalls& calls, bool last) {
  const DecodeCounts decoded = CountDecoded();
  const BufferCounts buffers = CountBuffers();
  const uint64_t lost = g_dropped + buffers.lost + buffers.refused + decoded.unknown;
  g_watch.Look({calls.all, calls.copies, decoded.records, decoded.copies, lost, buffers.out,
                kBufferSize / at::Api::kSize},
               static_cast<double>(MonotonicNs() - g_began) / 1e9, last);
  if (g_watch.changed()) {
    GpuFact("gpu.reason", g_watch.reason());
  }
}

// The recording ends while the program goes on. Records are switched off, since they slow the
// program down. Records of work that the device has not finished come when it is finished.
void FlushRest() {
  DisableRecords();
  Flush(0);
  const uint64_t end = MonotonicNs() + static_cast<uint64_t>(kCatchUpNs);
  while (CountBuffers().out != 0 && MonotonicNs() < end &&
         __atomic_load_n(&g_session.stop, __ATOMIC_ACQUIRE) == 0) {
    Wait(&g_session.stop, 0, kCatchUpStepNs);
    Flush(0);
  }
  Flush(kFlushForced);
}

// Says how many copies and kernels are missing in the trace because CUPTI gave no usable times for
// them, if their share is more than 1 %.
void TellUnstamped(const DecodeCounts& decoded, uint64_t works) {
  const uint64_t all = works + decoded.unstamped_works;
  if (decoded.unstamped_works * 100 <= all) {
    return;
  }
  char line[400];
  Text text{line, sizeof line};
  text.Add(g_watch.reason()).Add(g_watch.reason()[0] != 0 ? "; " : "");
  text.Add("CUPTI gave no usable times for ").Number(decoded.unstamped_works).Add(" of ");
  text.Number(all).Add(" copies and kernels");
  GpuFact("gpu.reason", line);
}

void TellCounts() {
  const DeviceCounts records = CountDeviceRecords();
  const BufferCounts buffers = CountBuffers();
  const DecodeCounts decoded = CountDecoded();
  GpuFact("gpu.records", records.works);
  GpuFact("gpu.calls", records.calls);
  GpuFact("gpu.dropped", g_dropped + buffers.lost);
  GpuFact("gpu.refused_buffers", buffers.refused);
  GpuFact("gpu.unstamped", decoded.unstamped);
  GpuFact("gpu.unknown", decoded.unknown);
  GpuFact("gpu.foreign_buffers", buffers.foreign);
  GpuFact("gpu.lost_buffers", buffers.out);
  GpuFact("gpu.unpaired", records.unpaired);
  GpuFact("gpu.cupti_cost_ns", decoded.cost_ns);
  TellUnstamped(decoded, records.works);
}

// Ends this thread after the program has installed a seccomp filter, perhaps for this thread too.
// The C library would make several system calls to end a thread; every filter allows this one
// (exit).
[[noreturn]] void LeaveSandbox() {
  __atomic_fetch_sub(&g_header->late_writers, 1u, __ATOMIC_ACQ_REL);
  __atomic_store_n(&g_session.closed, 1u, __ATOMIC_RELEASE);
  __atomic_store_n(&g_session.done, 2u, __ATOMIC_RELEASE);
  for (;;) {
    sys::Raw(SYS_exit, 0);
  }
}

void* FlushMain(void* /*unused*/) {
  sys::Call(SYS_prctl, 15 /* PR_SET_NAME */, sys::Pointer("penstock-gpu"));
  g_began = MonotonicNs();
  bool last = false;
  bool ended = false;
  while (!last) {
    if (__atomic_load_n(&g_session.stop, __ATOMIC_ACQUIRE) == 0) {
      Wait(&g_session.stop, 0, kFlushNs);
    }
    if (sys::IsShut()) {
      LeaveSandbox();
    }
    ended = !Recording();
    last = ended || __atomic_load_n(&g_session.stop, __ATOMIC_ACQUIRE) != 0;
    const CudaCalls calls = CountedCudaCalls();
    Flush(0);
    if (ended) {
      FlushRest();
    } else if (last) {
      Flush(kFlushForced);  // the program is over: wait for nothing
    }
    Watch(calls, last);
    EndRound(last);
  }
  TellCounts();
  __atomic_fetch_sub(&g_header->late_writers, 1u, __ATOMIC_ACQ_REL);
  __atomic_store_n(&g_session.done, 1u, __ATOMIC_RELEASE);
  if (!ended) {
    DisableRecords();  // so destructors that use the device ask for no buffers
  }
  __atomic_store_n(&g_session.closed, 1u, __ATOMIC_RELEASE);
  if (__atomic_load_n(&g_session.stop, __ATOMIC_ACQUIRE) == 0) {
    g_session.cupti.functions.unsubscribe(g_session.subscriber);
  }
  __atomic_store_n(&g_session.done, 2u, __ATOMIC_RELEASE);
  Wake(&g_session.done);
  return nullptr;
}

// Called at the end of the program. Waits for the last flush, but not for ever, since CUPTI's flush
// has been seen to hang.
void OnExit(void* /*unused*/) {
  if (sys::IsShut() || !SessionIsOurs()) {
    return;  // a sandbox, or a forked child
  }
  const int saved = errno;
  __atomic_store_n(&g_session.stop, 1u, __ATOMIC_RELEASE);
  Wake(&g_session.stop);
  const uint64_t end = MonotonicNs() + static_cast<uint64_t>(kEndNs);
  for (uint32_t done;
       (done = __atomic_load_n(&g_session.done, __ATOMIC_ACQUIRE)) < 2 && MonotonicNs() < end;) {
    Wait(&g_session.done, done, 50000000);
  }
  if (__atomic_load_n(&g_session.done, __ATOMIC_ACQUIRE) == 0) {
    GpuFact("gpu.reason", "CUPTI's last flush did not end; the last records are missing");
  }
  __atomic_store_n(&g_session.closed, 1u, __ATOMIC_RELEASE);
  errno = saved;
}

}  // namespace

// Starts the flush thread, with the program's signals blocked in it.
bool StartFlushing() {
  using Create = int(unsigned long*, const void*, void* (*)(void*), void*);
  using Detach = int(unsigned long);
  auto* create = reinterpret_cast<Create*>(dlsym(RTLD_DEFAULT, "pthread_create"));
  auto* detach = reinterpret_cast<Detach*>(dlsym(RTLD_DEFAULT, "pthread_detach"));
  if (create == nullptr || detach == nullptr) {
    return false;
  }
  // All signals but 32 and 33, which glibc uses itself. Before glibc 2.32 a new thread keeps its
  // creator's mask. If 32 and 33 were blocked, setuid() would wait for this thread forever.
  const uint64_t all = ~(uint64_t{3} << 31);
  uint64_t before = 0;
  if (sys::Call(SYS_rt_sigprocmask, SIG_SETMASK, sys::Pointer(&all), sys::Pointer(&before), 8) !=
      0) {
    return false;
  }
  unsigned long thread = 0;
  const bool made = create(&thread, nullptr, FlushMain, nullptr) == 0;
  sys::Raw(SYS_rt_sigprocmask, SIG_SETMASK, sys::Pointer(&before), 0, 8);
  if (made) {
    detach(thread);
    __cxa_atexit(OnExit, nullptr, nullptr);
  }
  return made;
}

}  // namespace penstock::agent::cupti
