// SPDX-License-Identifier: Apache-2.0
//
// The agent as a CUDA injection library: the driver calls InitializeInjection() while it
// initialises, in the process that uses the device and in no other. It takes CUPTI's one place if
// that is free, chooses what is recorded, and starts the only thread that the agent ever starts.
// Whatever fails, the program goes on: the answer is 1, and the level that was reached is a fact of
// the process. In a forked child nothing here does anything.

#include <dlfcn.h>
#include <limits.h>
#include <signal.h>
#include <time.h>

#include "agent/gpu/cupti_buffers.h"
#include "agent/gpu/cupti_calls.h"
#include "agent/gpu/cupti_decode.h"
#include "agent/gpu/cupti_library.h"
#include "agent/gpu/device_clock.h"
#include "agent/gpu/device_records.h"
#include "agent/gpu/level.h"
#include "agent/hook.h"
#include "agent/linear.h"
#include "agent/process.h"
#include "agent/strings.h"
#include "agent/symver.h"
#include "agent/sys.h"
#include "agent/thread_state.h"

extern "C" int __cxa_atexit(void (*function)(void*), void* argument, void* object);

namespace penstock::agent::cupti {
namespace {

constexpr int64_t kFlushNs = 250000000;  // between two flushes
constexpr int64_t kEndNs = 2000000000;   // what the end of the program waits for the last one

struct Session {
  uint32_t pid;     // of the process that began it, 0: none
  uint32_t begun;   // atomic: once in a process image
  uint32_t closed;  // atomic: CUPTI gets no more buffers
  uint32_t stop;    // atomic, futex: the last flush is wanted
  uint32_t done;    // atomic, futex: it was made
  bool own_clock;   // CUPTI stamps with ours
  double ticks_per_ns;
  void* subscriber;
  Library library;
  DeviceClock clock;
};
Session g_session;

bool IsOurs() {
  return g_session.pid == sys::Pid();
}

uint64_t Monotonic() {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

// ---- what CUPTI calls ---------------------------------------------------------------------------

void OnRequest(uint8_t** buffer, size_t* size, size_t* records) {
  const bool open = IsOurs() && __atomic_load_n(&g_session.closed, __ATOMIC_RELAXED) == 0;
  *buffer = open ? HandOutBuffer() : nullptr;
  *size = *buffer != nullptr ? kBufferSize : 0;
  *records = 0;
}

void OnComplete(void* /*context*/, uint32_t /*stream*/, uint8_t* buffer, size_t /*size*/,
                size_t valid) {
  if (IsOurs()) {
    TakeBackBuffer(buffer, valid);
  }
}

void OnCallback(void* /*user*/, uint32_t /*domain*/, uint32_t /*id*/, const void* /*data*/) {}

// ---- flushing -----------------------------------------------------------------------------------

void Wait(const uint32_t* word, uint32_t while_it_is, int64_t ns) {
  struct timespec time = {ns / 1000000000, ns % 1000000000};
  sys::Call(SYS_futex, sys::Pointer(word), 0 /* FUTEX_WAIT */, static_cast<long>(while_it_is),
            sys::Pointer(&time), 0, 0);
}

void Wake(const uint32_t* word) {
  sys::Call(SYS_futex, sys::Pointer(word), 1 /* FUTEX_WAKE */, INT_MAX);
}

// Reads the clock of the records and the recording's together; the tightest of a few tries.
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
    if (g_session.library.functions.timestamp(&stamp) != kSuccess) {
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

void ReadBuffers() {
  size_t valid = 0;
  for (uint8_t* buffer = NextFullBuffer(&valid); buffer != nullptr;
       buffer = NextFullBuffer(&valid)) {
    DecodeBuffer(buffer, valid, g_session.clock, g_session.ticks_per_ns);
    RecycleBuffer(buffer, valid);
  }
}

uint64_t g_dropped = 0;

void CountLost() {
  size_t lost = 0;
  if (g_session.library.functions.dropped(nullptr, 0, &lost) == kSuccess && lost != 0) {
    g_dropped += lost;
    CountDropped(lost);  // a reader shows that first
  }
}

void Flush(uint32_t how) {
  ReadClocks();
  g_session.library.functions.flush_all(how);
  ReadClocks();
  ReadBuffers();
  CountLost();
  StockBuffers();
}

void Disable() {
  const Functions& f = g_session.library.functions;
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

void TellCounts() {
  const DeviceCounts records = CountDeviceRecords();
  const BufferCounts buffers = CountBuffers();
  const DecodeCounts decoded = CountDecoded();
  GpuFact("gpu.records", records.works);
  GpuFact("gpu.calls", records.calls);
  GpuFact("gpu.dropped", g_dropped + buffers.recycled);
  GpuFact("gpu.unstamped", decoded.unstamped);
  GpuFact("gpu.foreign_buffers", buffers.foreign);
  GpuFact("gpu.lost_buffers", buffers.out);
  GpuFact("gpu.unpaired", records.unpaired);
  GpuFact("gpu.cupti_cost_ns", decoded.cost_ns);
  if (buffers.out != 0 && records.works == 0) {
    GpuFact("gpu.reason", "another client of CUPTI took over its buffers");
  }
}

void* FlushMain(void* /*unused*/) {
  sys::Call(SYS_prctl, 15 /* PR_SET_NAME */, sys::Pointer("penstock-gpu"));
  bool last = false;
  while (!last) {
    if (__atomic_load_n(&g_session.stop, __ATOMIC_ACQUIRE) == 0) {
      Wait(&g_session.stop, 0, kFlushNs);
    }
    const bool ended = !Recording();
    last = ended || __atomic_load_n(&g_session.stop, __ATOMIC_ACQUIRE) != 0;
    Flush(0);
    if (ended) {
      Disable();  // left on, it would slow down what the program does afterwards
      Flush(0);
    } else if (last) {
      Flush(kFlushForced);  // the program is over: what has not ended never will
    }
    EndRound(last);
  }
  __atomic_store_n(&g_session.closed, 1u, __ATOMIC_RELEASE);
  TellCounts();
  __atomic_fetch_sub(&g_header->late_writers, 1u, __ATOMIC_ACQ_REL);
  if (__atomic_load_n(&g_session.stop, __ATOMIC_ACQUIRE) == 0) {
    g_session.library.functions.unsubscribe(g_session.subscriber);
  }
  __atomic_store_n(&g_session.done, 1u, __ATOMIC_RELEASE);
  Wake(&g_session.done);
  return nullptr;
}

// The program ends. CUPTI's flush has been seen to hang: nobody waits for it for ever.
void OnExit(void* /*unused*/) {
  if (!IsOurs()) {
    return;  // a forked child
  }
  const int saved = errno;
  __atomic_store_n(&g_session.stop, 1u, __ATOMIC_RELEASE);
  Wake(&g_session.stop);
  const uint64_t end = Monotonic() + static_cast<uint64_t>(kEndNs);
  while (__atomic_load_n(&g_session.done, __ATOMIC_ACQUIRE) == 0 && Monotonic() < end) {
    Wait(&g_session.done, 0, 50000000);
  }
  if (__atomic_load_n(&g_session.done, __ATOMIC_ACQUIRE) == 0) {
    GpuFact("gpu.reason", "CUPTI's last flush did not end; the last records are missing");
  }
  __atomic_store_n(&g_session.closed, 1u, __ATOMIC_RELEASE);
  errno = saved;
}

// A thread of the flush thread's own kind: it takes no signal of the program.
bool StartThread() {
  using Create = int(unsigned long*, const void*, void* (*)(void*), void*);
  using Detach = int(unsigned long);
  auto* create = reinterpret_cast<Create*>(dlsym(RTLD_DEFAULT, "pthread_create"));
  auto* detach = reinterpret_cast<Detach*>(dlsym(RTLD_DEFAULT, "pthread_detach"));
  if (create == nullptr || detach == nullptr) {
    return false;
  }
  const uint64_t all = ~uint64_t{0};
  uint64_t before = 0;
  sys::Call(SYS_rt_sigprocmask, SIG_SETMASK, sys::Pointer(&all), sys::Pointer(&before), 8);
  unsigned long thread = 0;
  const bool made = create(&thread, nullptr, FlushMain, nullptr) == 0;
  sys::Call(SYS_rt_sigprocmask, SIG_SETMASK, sys::Pointer(&before), 0, 8);
  if (made) {
    detach(thread);
  }
  return made;
}

// ---- beginning ----------------------------------------------------------------------------------

struct Reason {
  char data[512] = "";
  Text text{data, sizeof data};
};

bool Subscribe(Reason& why) {
  const Functions& f = g_session.library.functions;
  const Result result = f.subscribe(&g_session.subscriber, OnCallback, nullptr);
  if (result == kSuccess) {
    return true;
  }
  if (result == kBusy || result == kMaxLimitReached) {
    char owner[256] = "";
    SubscriberParameters parameters = {sizeof parameters, "Penstock", owner, sizeof owner};
    if (f.subscribe_v2 != nullptr &&
        f.subscribe_v2(&g_session.subscriber, OnCallback, nullptr, &parameters) == kSuccess) {
      return true;  // it was given up in between
    }
    owner[sizeof owner - 1] = 0;
    why.text.Add("CUPTI is in use by ").Add(owner[0] != 0 ? owner : "another profiler");
  } else if (result == kInsufficientPrivileges) {
    why.text.Add("no permission to use CUPTI");
  } else if (result == kUnknown) {
    why.text.Add("CUPTI finds no driver (999)");
  } else {
    why.text.Add("CUPTI refuses (").Number(static_cast<uint64_t>(result)).Add(")");
  }
  return false;
}

// Before anything is enabled.
void Configure(uint32_t version, bool* system_threads) {
  const Functions& f = g_session.library.functions;
  *system_threads = f.set_thread_ids != nullptr && f.set_thread_ids(kSystemThreadIds) == kSuccess;
  g_session.own_clock = f.set_clock != nullptr && f.set_clock(Monotonic) == kSuccess;
  if (f.set_attribute != nullptr) {
    uint8_t zeroed = 1;
    size_t size = sizeof zeroed;
    f.set_attribute(kZeroedBuffers, &size, &zeroed);
    size_t limit = 32;  // of 3.2 MB on the device, instead of 250
    size = sizeof limit;
    f.set_attribute(kDeviceBufferPoolLimit, &size, &limit);
  }
  if (f.all_sync_records != nullptr && version >= kChoosesCalls) {
    f.all_sync_records(0);
  }
}

void EnableCalls(uint32_t version) {
  const Functions& f = g_session.library.functions;
  if (version >= kChoosesCalls && f.enable_runtime_call != nullptr) {
    uint32_t enabled = 0;
    for (const uint16_t call : kRuntimeCalls) {
      enabled += f.enable_runtime_call(call, 1) == kSuccess ? 1u : 0u;
    }
    for (const uint16_t call : kDriverCalls) {
      if (f.enable_driver_call != nullptr) {
        f.enable_driver_call(call, 1);
      }
    }
    if (enabled != 0) {
      return;
    }
  }
  f.enable(kRuntime);
}

// True if records of any kind are coming.
bool Enable(uint32_t version, Reason& why) {
  const Functions& f = g_session.library.functions;
  const Result result = f.register_callbacks(OnRequest, OnComplete);
  if (result != kSuccess) {
    why.text.Add("CUPTI takes no buffers (").Number(static_cast<uint64_t>(result)).Add(")");
    return false;
  }
  uint32_t enabled = 0;
  for (const uint32_t kind : kRecordedKinds) {
    if (kind != kRuntime && kind != kDriver) {
      enabled += f.enable(kind) == kSuccess ? 1u : 0u;
    }
  }
  if (enabled == 0) {
    why.text.Add("CUPTI records no activity here");
    return false;
  }
  EnableCalls(version);
  return true;
}

void TellLibrary(uint32_t version) {
  char text[4200];
  Text fact{text, sizeof text};
  fact.Number(version).Add(" ").Add(g_session.library.path);
  GpuFact("gpu.cupti", text);
  if (g_session.library.copies > 1) {
    GpuFact("gpu.cupti_copies", static_cast<uint64_t>(g_session.library.copies));
  }
  GpuFact("gpu.clock", g_session.own_clock ? "monotonic" : "anchored");
}

bool Begin(Reason& why) {
  if (!OpenLibrary(&g_session.library, why.data, sizeof why.data)) {
    return false;
  }
  const Functions& f = g_session.library.functions;
  if (!Subscribe(why)) {
    return false;
  }
  uint32_t version = 0;
  f.version(&version);
  bool system_threads = false;
  Configure(version, &system_threads);
  g_session.ticks_per_ns = static_cast<double>(uint64_t{1} << 20) /
                           static_cast<double>(g_ns_per_tick != 0 ? g_ns_per_tick : 1 << 20);
  ReadClocks();
  g_session.pid = sys::Pid();
  if (!PrepareBuffers(version >= kRejectsBuffers) || !PrepareDecoder(f, system_threads) ||
      !PrepareDeviceRecords()) {
    why.text.Add("no memory for CUPTI's buffers");
  } else if (Enable(version, why)) {
    if (StartThread()) {
      __atomic_fetch_add(&g_header->late_writers, 1u, __ATOMIC_ACQ_REL);
      TellLibrary(version);
      __cxa_atexit(OnExit, nullptr, nullptr);
      return true;
    }
    why.text.Add("no thread to flush CUPTI");
  }
  g_session.closed = 1;
  Disable();
  f.unsubscribe(g_session.subscriber);
  return false;
}

void Initialise() {
  uint64_t token;
  if (!g_config.on || !Recording() || !EnsureProcess(&token) || g_slot == nullptr ||
      __atomic_exchange_n(&g_session.begun, 1u, __ATOMIC_ACQ_REL) != 0) {
    return;
  }
  const GpuLevel asked = AskedGpuLevel();
  if (asked == GpuLevel::kOff) {
    return;
  }
  if (__atomic_load_n(&g_slot->role, __ATOMIC_ACQUIRE) == wire::kRoleWorker) {
    ReachGpuLevel(GpuLevel::kNvtx, "a loader's worker is left alone");
    return;
  }
  if (asked != GpuLevel::kCupti && asked != GpuLevel::kAuto) {
    ReachGpuLevel(GpuLevel::kNvtx, asked == GpuLevel::kYield ? "CUPTI is left to the program" : "");
    return;
  }
  Reason why;
  if (Begin(why)) {
    ReachGpuLevel(GpuLevel::kCupti, "");
  } else {
    ReachGpuLevel(GpuLevel::kNvtx, why.data);
  }
}

}  // namespace
}  // namespace penstock::agent::cupti

// The driver's call. 1, whatever happens: the agent is no reason for CUDA to fail.
PENSTOCK_EXPORT int InitializeInjection() {
  const int saved = errno;
  penstock::agent::cupti::Initialise();
  errno = saved;
  return 1;
}
