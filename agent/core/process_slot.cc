// SPDX-License-Identifier: Apache-2.0
//
// The slot of this process in the recording: claiming it, and counting in it.
#include <fcntl.h>
#include <sys/stat.h>

#include "agent/core/audit.h"
#include "agent/core/linear.h"
#include "agent/core/process.h"
#include "agent/core/recorder.h"
#include "agent/system/scratch.h"
#include "agent/system/strings.h"
#include "agent/system/sys.h"
#include "agent/system/time_namespace.h"

namespace penstock::agent {

Counters g_local = {};
wire::ProcessSlot* g_slot = nullptr;
uint32_t g_slot_index = wire::kMaxProcesses;

namespace {

uint64_t ProcessStart() {
  // The start time is field 22 of the stat file; the command name (field 2) may hold spaces and
  // parentheses. The file of the main thread is read, since qemu imitates /proc/self/stat with a
  // time that differs from what the recorder sees. If /proc belongs to another namespace, there is
  // no file under this number.
  PENSTOCK_SCRATCH(text);
  char path[64];
  Text{path, sizeof path}.Add("/proc/self/task/").Number(sys::Pid()).Add("/stat");
  size_t size = sys::ReadFile(path, text, 1024);
  if (size == 0) size = sys::ReadFile("/proc/self/stat", text, 1024);
  if (size == 0) {
    return 0;  // no /proc: the buffer was not written
  }
  const char* p = text + size;
  while (p > text && *p != ')') {
    --p;
  }
  for (int field = 2; field < 22 && *p != 0; ++p) {
    if (*p == ' ') {
      ++field;
    }
  }
  int64_t value = ParseNumber(p);
  value -= value < 0 ? 0 : g_start_shift;
  return value < 0 ? 0 : static_cast<uint64_t>(value);
}

void FillSlot(wire::ProcessSlot* slot) {
  slot->pid = sys::Pid();
  slot->parent = static_cast<uint32_t>(sys::Call(SYS_getppid));
  slot->role = wire::kRoleOther;
  slot->process_start = ProcessStart();
  struct stat st;
  slot->pid_namespace = sys::Call(SYS_newfstatat, AT_FDCWD, sys::Pointer("/proc/self/ns/pid"),
                                  sys::Pointer(&st), 0) == 0
                            ? st.st_ino
                            : 0;
  slot->bytes_hooked = 0;
  slot->bytes_dataset = 0;
  slot->bytes_network = 0;
  slot->bytes_mapped = 0;
  slot->bytes_lost = 0;
  slot->bytes_claimed = 0;
  slot->network_lost = 0;
  slot->network_claimed = 0;
  slot->cpu_at_end = 0;
  FoldLocals(slot);
  slot->dropped = 0;
  slot->features = g_local.features;
  slot->worker_id = -1;
  slot->rank = g_config.rank;
  slot->local_rank = g_config.local_rank;
  slot->world_size = g_config.world_size;
  slot->hook_misses = g_local.misses;
  // Bytes that were read before the hooks counted (ld.so reads libraries) do not count as missing.
  const uint64_t kernel = KernelReadBytes();
  slot->rchar_at_start = kernel > slot->bytes_hooked ? kernel - slot->bytes_hooked : 0;
  slot->rchar_last = kernel;
  slot->hooked_last = slot->bytes_hooked;
  size_t n = sys::ReadFile("/proc/self/comm", slot->comm, sizeof slot->comm);
  if (n > 0 && slot->comm[n - 1] == '\n') {
    slot->comm[n - 1] = 0;
  }
}

// Whether two slots may lie in the same pid namespace. An unknown namespace (0) may be any.
bool MaySharePids(const wire::ProcessSlot* one, const wire::ProcessSlot* other) {
  return one->pid_namespace == other->pid_namespace || one->pid_namespace == 0 ||
         other->pid_namespace == 0;
}

// Retires the slot of the program that ran in this process before exec(). Compares pid namespaces
// too: in containers that start together, two processes may have the same pid and start time. Looks
// at all slots, also behind free ones: the collector frees slots of processes that have ended.
void RetireEarlierSlot(const wire::ProcessSlot* own) {
  for (uint32_t i = 0; i < wire::kMaxProcesses; ++i) {
    wire::ProcessSlot* slot = &g_header->processes[i];
    const uint32_t state = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
    if (slot != own && state == wire::kProcessLive && slot->pid == own->pid &&
        slot->process_start == own->process_start && MaySharePids(slot, own)) {
      __atomic_store_n(&slot->state, uint32_t{wire::kProcessReplaced}, __ATOMIC_RELEASE);
    }
  }
}

// Returns the slot of this process; a forked child claims its own here. If it returns nullptr,
// there is no slot, and the caller counts in g_local.
inline wire::ProcessSlot* OwnSlot() {
  const bool is_ours = LoadToken() != 0;  // before g_slot: without a token, g_slot is the parent's
  wire::ProcessSlot* const slot = g_slot;
  if (slot == nullptr || is_ours) {
    return slot;
  }
  uint64_t token;
  return EnsureProcess(&token) ? g_slot : nullptr;
}

inline void Add(uint64_t* local, uint64_t wire::ProcessSlot::*field, uint64_t value) {
  wire::ProcessSlot* slot = OwnSlot();
  __atomic_fetch_add(slot != nullptr ? &(slot->*field) : local, value, __ATOMIC_RELAXED);
}

}  // namespace

bool ClaimSlot() {
  for (uint32_t i = 0; i < wire::kMaxProcesses; ++i) {
    wire::ProcessSlot* slot = &g_header->processes[i];
    uint32_t expected = wire::kProcessFree;
    if (__atomic_load_n(&slot->state, __ATOMIC_RELAXED) == wire::kProcessFree &&
        __atomic_compare_exchange_n(&slot->state, &expected, uint32_t{wire::kProcessClaimed}, false,
                                    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
      FillSlot(slot);
      RetireEarlierSlot(slot);
      __atomic_store_n(&g_slot, slot, __ATOMIC_RELEASE);  // other threads count into it
      StartAudit();
      __atomic_store_n(&slot->state, uint32_t{wire::kProcessLive}, __ATOMIC_RELEASE);
      g_slot_index = i;
      return true;
    }
  }
  return false;
}

void AddHooked(uint64_t bytes) {
  Add(&g_local.hooked, &wire::ProcessSlot::bytes_hooked, bytes);
}
void AddRead(bool network, uint64_t bytes) {
  network ? Add(&g_local.network, &wire::ProcessSlot::bytes_network, bytes)
          : Add(&g_local.dataset, &wire::ProcessSlot::bytes_dataset, bytes);
}
void AddLost(bool network, uint64_t bytes) {
  if (OwnSlot() == nullptr && g_header != nullptr && g_without_slot) {
    __atomic_fetch_add(&g_header->bytes_lost, bytes, __ATOMIC_RELAXED);
    return;
  }
  network ? Add(&g_local.network_lost, &wire::ProcessSlot::network_lost, bytes)
          : Add(&g_local.lost, &wire::ProcessSlot::bytes_lost, bytes);
  NoteLateLoss();
}
void AddClaimed(bool network, uint64_t bytes) {
  network ? Add(&g_local.network_claimed, &wire::ProcessSlot::network_claimed, bytes)
          : Add(&g_local.claimed, &wire::ProcessSlot::bytes_claimed, bytes);
}
void MoveToLost(bool network, uint64_t bytes) {
  AddRead(network, uint64_t{0} - bytes);
  AddLost(network, bytes);
}
void AddMapped(uint64_t bytes) {
  Add(&g_local.mapped, &wire::ProcessSlot::bytes_mapped, bytes);
  SetFeature(wire::kFeatureMapped);
}

void SetFeature(uint32_t feature) {
  __atomic_fetch_or(&g_local.features, feature, __ATOMIC_RELAXED);
  if (wire::ProcessSlot* slot = OwnSlot(); slot != nullptr) {
    __atomic_fetch_or(&slot->features, feature, __ATOMIC_RELAXED);
  }
}

void SetRole(uint32_t role, int32_t worker_id) {
  uint64_t token;
  if (EnsureProcess(&token)) {
    __atomic_store_n(&g_slot->worker_id, worker_id, __ATOMIC_RELAXED);
    __atomic_store_n(&g_slot->role, role, __ATOMIC_RELEASE);
  }
}

void CountMiss() {
  __atomic_fetch_add(&g_local.misses, 1u, __ATOMIC_RELAXED);
  if (wire::ProcessSlot* slot = OwnSlot(); slot != nullptr) {
    __atomic_fetch_add(&slot->hook_misses, 1u, __ATOMIC_RELAXED);
  }
}

void CountDropped(uint64_t records) {
  if (g_header != nullptr) {
    __atomic_fetch_add(&g_header->dropped, records, __ATOMIC_RELAXED);
  }
  if (g_slot != nullptr) {
    __atomic_fetch_add(&g_slot->dropped, records, __ATOMIC_RELAXED);
  }
  NoteLateLoss();
}

void CountBatch() {
  if (g_header == nullptr) {
    return;
  }
  const uint64_t delivered = __atomic_add_fetch(&g_header->batches, uint64_t{1}, __ATOMIC_RELAXED);
  if (g_header->batch_limit != 0 && delivered >= g_header->batch_limit) {
    __atomic_store_n(&g_header->recording, 0u, __ATOMIC_RELEASE);
  }
}

}  // namespace penstock::agent
