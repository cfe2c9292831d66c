// SPDX-License-Identifier: Apache-2.0
//
// The agent as a CUDA injection library: the driver calls InitializeInjection() while it
// initialises, only in the process that uses the device. The function subscribes to CUPTI if no
// other tool has (only one can), chooses what is recorded, and starts the flush thread. If
// anything fails, the program goes on: the function returns 1, and the level that was reached
// becomes a fact of the process. In a forked child nothing here has an effect.

#include "agent/gpu/cupti_session.h"
#include "agent/core/process.h"
#include "agent/core/thread_state.h"
#include "agent/gpu/cupti_buffers.h"
#include "agent/gpu/cupti_calls.h"
#include "agent/gpu/cupti_decode.h"
#include "agent/gpu/cupti_library.h"
#include "agent/gpu/device_records.h"
#include "agent/gpu/level.h"
#include "agent/hooks/hook.h"
#include "agent/system/strings.h"
#include "agent/system/sys.h"

namespace penstock::agent::cupti {
namespace {

// CUPTI may ask for buffers after the recording has ended. It may also ask in a forked child, which
// has its own copy of the table.
void OnRequest(uint8_t** buffer, size_t* size, size_t* records) {
  *buffer =
      HandOutBuffer(SessionIsOurs() && __atomic_load_n(&g_session.closed, __ATOMIC_RELAXED) == 0);
  *size = *buffer != nullptr ? kBufferSize : 0;
  *records = 0;
}

void OnComplete(void* /*context*/, uint32_t /*stream*/, uint8_t* buffer, size_t /*size*/,
                size_t valid) {
  TakeBackBuffer(buffer, valid);
}

void OnCallback(void* /*user*/, uint32_t /*domain*/, uint32_t /*id*/, const void* /*data*/) {}

struct Reason {
  char data[512] = "";
  Text text{data, sizeof data};
};

bool Subscribe(Reason& why) {
  const Functions& f = g_session.cupti.functions;
  const Result result = f.subscribe(&g_session.subscriber, OnCallback, nullptr);
  if (result == kSuccess) {
    return true;
  }
  if (result == kBusy || result == kMaxLimitReached) {
    char owner[256] = "";
    SubscriberParameters parameters = {sizeof parameters, "Penstock", owner, sizeof owner};
    if (f.subscribe_v2 != nullptr &&
        f.subscribe_v2(&g_session.subscriber, OnCallback, nullptr, &parameters) == kSuccess) {
      return true;  // the other tool gave it up in between
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

// Sets CUPTI's options. Requires: nothing is enabled yet.
void Configure(uint32_t version, bool* system_threads) {
  const Functions& f = g_session.cupti.functions;
  *system_threads = f.set_thread_ids != nullptr && f.set_thread_ids(kSystemThreadIds) == kSuccess;
  g_session.own_clock = f.set_clock != nullptr && f.set_clock(MonotonicNs) == kSuccess;
  if (f.set_attribute != nullptr) {
    uint8_t zeroed = 1;
    size_t size = sizeof zeroed;
    f.set_attribute(kZeroedBuffers, &size, &zeroed);
    // The number of buffers on the device stays CUPTI's default (250 of 3.2 MB). In programs with
    // CUDA graphs CUPTI stops taking time stamps for good after some number of records, which is
    // smaller with fewer buffers (parca-dev/parcagpu issue 23, CUPTI 13.0: 0.9 million records with
    // 8 buffers, 25 million with 250).
  }
  if (f.all_sync_records != nullptr && version >= kChoosesCalls) {
    f.all_sync_records(0);
  }
}

void EnableCalls(uint32_t version) {
  const Functions& f = g_session.cupti.functions;
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

// Enables the records. True if any kind of them could be enabled.
bool Enable(uint32_t version, Reason& why) {
  const Functions& f = g_session.cupti.functions;
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
  fact.Number(version).Add(" ").Add(g_session.cupti.path);
  GpuFact("gpu.cupti", text);
  if (g_session.cupti.copies > 1) {
    GpuFact("gpu.cupti_copies", static_cast<uint64_t>(g_session.cupti.copies));
  }
  GpuFact("gpu.clock", g_session.own_clock ? "monotonic" : "anchored");
}

bool Begin(Reason& why) {
  if (!OpenLibrary(&g_session.cupti, why.data, sizeof why.data)) {
    return false;
  }
  const Functions& f = g_session.cupti.functions;
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
  __atomic_store_n(&g_session.pid, sys::Pid(), __ATOMIC_RELEASE);
  if (!PrepareBuffers(version >= kRejectsBuffers) || !PrepareDecoder(f, system_threads) ||
      !PrepareDeviceRecords()) {
    why.text.Add("no memory for CUPTI's buffers");
  } else if (Enable(version, why)) {
    TellLibrary(version);
    __atomic_fetch_add(&g_header->late_writers, 1u, __ATOMIC_ACQ_REL);
    if (StartFlushing()) {
      return true;
    }
    __atomic_fetch_sub(&g_header->late_writers, 1u, __ATOMIC_ACQ_REL);
    why.text.Add("no thread to flush CUPTI");
  }
  __atomic_store_n(&g_session.closed, 1u, __ATOMIC_RELEASE);
  DisableRecords();
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
    ReachGpuLevel(GpuLevel::kNvtx, "CUPTI is not used in a loader's worker");
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

// Called by the driver. Always returns 1, so that CUDA never fails because of the agent.
PENSTOCK_EXPORT int InitializeInjection() {
  const int saved = errno;
  penstock::agent::cupti::Initialise();
  errno = saved;
  return 1;
}
